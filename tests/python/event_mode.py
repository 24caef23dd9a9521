"""FMPy with event mode: each event gives two rows of one time, the values before and after it. Argument: a list of archives with
stop time and step size. The schema of terminals and icons is tried on them too."""
import os
import zipfile

import fmpy
import numpy as np
from lxml import etree

from units import silent, task

schema = os.path.join(os.path.dirname(fmpy.__file__), "schema", "fmi3", "fmi3TerminalsAndIcons.xsd")
for each in task():
    archive, stop = each["archive"], each["stop"]
    common = dict(stop_time=stop, output_interval=each["step"], fmi_type="CoSimulation")
    plain = silent("FMPy", lambda: fmpy.simulate_fmu(archive, use_event_mode=False, early_return_allowed=False, **common))
    result = silent("FMPy", lambda: fmpy.simulate_fmu(archive, use_event_mode=True, early_return_allowed=True, **common))
    times = result["time"]
    # A row at the start before and after the first event mode; then a pair at each event.
    pairs = [i for i in range(1, len(times)) if times[i] == times[i - 1] and times[i] > 0.0]
    names = [name for name in result.dtype.names if name != "time"]
    jumps = 0
    for i in pairs:
        jumps += any(result[name][i] != result[name][i - 1] for name in names)
    assert pairs, f"{archive}: no event"
    if each["jumps"]:
        assert jumps, f"{archive}: nothing differs at any of {len(pairs)} events"
    # No event is reported twice, and the time never goes back.
    assert all(times[i] > times[i - 2] for i in range(3, len(times))), f"{archive}: three rows of one time"
    if each["located"]:
        # Where events are depends on the motion, not on the communication points.
        found = []
        for step in (each["step"], 0.73 * each["step"]):
            fine = silent("FMPy", lambda: fmpy.simulate_fmu(
                archive, use_event_mode=True, early_return_allowed=True, relative_tolerance=1e-9, **dict(common, output_interval=step)))
            t = fine["time"]
            found.append([t[i] for i in range(1, len(t)) if t[i] == t[i - 1] and t[i] > 0.0])
        assert len(found[0]) == len(found[1]), f"{archive}: {found}"
        apart = float(np.max(np.abs(np.subtract(*found))))
        print(f"{os.path.basename(archive)}: {len(found[0])} events, times on two grids agree to {apart:.1e}")
        assert apart < 1e-9, f"{archive}: {found}"
    # The same motion as without event mode, to the tolerance of the units. Forces jump at events, so positions are compared.
    shared = [(i, j[-1]) for i, t in enumerate(plain["time"]) for j in [np.where(np.abs(times - t) < 1e-9)[0]] if len(j)]
    assert len(shared) > 0.9 * len(plain["time"]), f"{archive}: {len(shared)} points of the grid"
    for name in each["positions"]:
        theirs, ours = (np.array([r[name][k[n]] for k in shared]) for n, r in enumerate((plain, result)))
        worst = float(np.max(np.abs(ours - theirs)))
        print(f"{os.path.basename(archive)} {name}: {len(pairs)} events, {jumps} with a jump, difference {worst:.1e}")
        assert worst < 1e-6, f"{archive}: {name} differs by {worst}"
    if os.path.isfile(schema):
        with zipfile.ZipFile(archive) as z:
            document = etree.fromstring(z.read("terminalsAndIcons/terminalsAndIcons.xml"))
        etree.XMLSchema(etree.parse(schema)).assertValid(document)
    else:
        print("SKIP: FMPy brings no schema of terminals")
print("ok")
