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
    plain = silent("FMPy", lambda: fmpy.simulate_fmu(archive, **common))
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
    # The grid of both runs: the same motion. The substeps end elsewhere, so the last digits differ.
    for name in names:
        if np.asarray(result[name]).dtype.kind != "f":
            continue
        ours = [result[name][np.where(times == t)[0][-1]] for t in plain["time"] if t in times]
        theirs = [y for t, y in zip(plain["time"], plain[name]) if t in times]
        scale = max(1e-9, float(np.max(np.abs(theirs))))
        worst = float(np.max(np.abs(np.array(ours) - np.array(theirs)))) / scale
        print(f"{os.path.basename(archive)} {name}: {len(pairs)} events, {jumps} with a jump, difference {worst:.1e}")
    if os.path.isfile(schema):
        with zipfile.ZipFile(archive) as z:
            document = etree.fromstring(z.read("terminalsAndIcons/terminalsAndIcons.xml"))
        etree.XMLSchema(etree.parse(schema)).assertValid(document)
    else:
        print("SKIP: FMPy brings no schema of terminals")
print("ok")
