//! What the page says about the model, and the error bands of outputs.

use super::driver::{Browser, Graphics};
use super::support::{page_of, repository, run, scratch, written};
use biela::report::{Measured, Recording, Report};
use biela::{Instance, Model, Observer, StepProbe};

#[test]
fn descriptions_stand_in_the_page_as_they_are_written() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    let text = std::fs::read_to_string(repository("models/pendulum.toml")).unwrap();
    let head = "description = \"A <b>bob</b> </script><script>document.title = 'bad'</script>\"\nauthor = \"A & B\"\n\
                version = \"1.2\"\nlicense = \"MIT\"\n";
    let text = text.replacen(
        "name = \"pendulum\"\n",
        &format!("name = \"pendulum\"\n{head}"),
        1,
    ) + "\n[[sensor]]\nname = \"eye\"\nbody = \"bob\"\npoint = [0, 0]\ndescription = \"seen from here\"\n\
           [[output]]\nname = \"seen\"\nsource = \"eye.x\"\ndescription = \"to the right\"\n\
           [[parameter]]\nname = \"m\"\ntarget = \"bob.mass\"\ndescription = \"lead\"\nmax = 5\nnominal = 2\n";
    let path = written("described.toml", &text);
    let page = scratch("described.html");
    let output = run(&path, &page, &[]);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    browser.open(&page, "");
    let told = |id: &str| {
        let script = format!("return document.getElementById('{id}').innerText");
        browser.run(&script).as_str().unwrap_or_default().to_owned()
    };
    let about = told("about");
    assert!(
        about.contains("A <b>bob</b> </script><script>document.title = 'bad'</script>"),
        "{about}"
    );
    assert!(
        about.contains("by A & B · version 1.2 · licence MIT"),
        "{about}"
    );
    assert!(told("described").contains("seen from here"));
    assert!(told("outputPlots").contains("to the right"));
    assert!(told("variableTable").contains("lead"));
    let range = told("variableTable");
    assert!(range.contains("0 .. 5, about 2"), "{range}");
    assert_ne!(browser.run("return document.title"), "bad");
    assert!(browser.messages().is_empty(), "{:?}", browser.messages());
    // Without words there is no empty place for them.
    browser.open(&page_of("models/oscillator.toml", "undescribed", &[]), "");
    let missing = browser.run("return document.getElementById('described') === null");
    assert_eq!(missing, true);
}

struct Rows(Recording);

impl Observer for Rows {
    fn accepted(&mut self, probe: &mut StepProbe) -> biela::Result<()> {
        self.0.accepted(probe)
    }
}

#[test]
fn the_error_of_an_output_is_a_band_around_its_curve() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    let path = repository("models/slider_crank.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let model = Model::from_file(&path).unwrap();
    let mut instance = Instance::from_model(model).unwrap();
    instance.initialize(0.0, 1.0, 0.0).unwrap();
    let times = (0..=100).map(|i| f64::from(i) / 100.0);
    let rows = Recording::new(&mut instance, 4, Some(Box::new(times))).unwrap();
    let mut rows = Rows(rows);
    instance.step_observed(0.0, 1.0, &mut rows).unwrap();
    let mut recording = rows.0;
    // A made-up recording: the second output is called the error of the first.
    let page_with = |recording: &Recording, name: &str| {
        let report = Report {
            model: instance.model(),
            text: &text,
            file: "slider_crank.toml",
            span: [0.0, 1.0],
            formulation: "absolute",
            assignments: &[],
            notes: Vec::new(),
            instance: Some(&instance),
            recording,
            failure: None,
        };
        let page = scratch(name);
        std::fs::write(&page, report.data().page(&Measured::default())).unwrap();
        page
    };
    let without = page_with(&recording, "no_band.html");
    let first = recording.outputs[0].clone();
    let band = &mut recording.outputs[1];
    (band.name, band.unit) = (format!("{}.error", first.name), first.unit.clone());
    let with = page_with(&recording, "band.html");

    // Pixels of the first plot that are neither paper nor opaque ink of the curve: those of a translucent band.
    let tinted = "const c = document.querySelector('#outputPlots canvas'); \
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data; let n = 0; \
        for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 40 && d[i + 3] < 80) n += 1; return n;";
    let curves = "return document.querySelectorAll('#outputPlots figure').length";
    let legend = "return document.querySelector('#outputPlots figcaption').innerText";
    browser.open(&without, "#t=0.5");
    browser.until("return document.querySelector('#outputPlots canvas') !== null");
    let (plain, plots) = (browser.number(tinted), browser.number(curves));
    assert!(!browser.run(legend).as_str().unwrap().contains('±'));
    browser.open(&with, "#t=0.5");
    browser.until("return document.querySelector('#outputPlots canvas') !== null");
    let banded = browser.number(tinted);
    assert!(
        banded > plain + 5000.0,
        "{plain} pixels without, {banded} with"
    );
    // It has no plot of its own, and the legend tells it.
    assert_eq!(browser.number(curves), plots - 1.0);
    let told = browser.run(legend);
    assert!(told.as_str().unwrap().contains('±'), "{told}");
    assert!(browser.messages().is_empty());
}
