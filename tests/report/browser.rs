//! The page in a real browser, opened from disk.

use serde_json::Value;

use super::driver::{Browser, Graphics};
use super::support::{page_of, repository, run, scratch, table, written};

/// Tables and page agree to this (m, rad, and what the outputs have).
const AGREEMENT: f64 = 1e-6;

fn text_of(model: &str) -> String {
    std::fs::read_to_string(repository(model)).unwrap()
}

fn output(name: &str, source: &str) -> String {
    format!("\n[[output]]\nname = \"{name}\"\nsource = \"{source}\"\n")
}

/// Moves the slider as a hand does.
fn slide(browser: &Browser, t: f64) {
    browser.run(&format!(
        "const s = document.getElementById('slider'); s.value = {t}; s.dispatchEvent(new Event('input', {{ bubbles: true }}));"
    ));
}

#[test]
fn the_page_opens_from_disk_without_a_message_or_a_request() {
    for (graphics, fragment) in [
        (Graphics::None, ""),
        (Graphics::SoftwareWebgl, ""),
        (Graphics::SoftwareWebgl, "#webgl"),
    ] {
        let Some(browser) = Browser::start(graphics, 1400, 900) else {
            return;
        };
        for model in [
            "slider_crank",
            "stewart",
            "newton_cradle",
            "double_oscillator",
        ] {
            let page = page_of(
                &format!("models/{model}.toml"),
                &format!("quiet_{model}"),
                &[],
            );
            browser.requests();
            browser.open(&page, fragment);
            browser.run("document.getElementById('play').click();");
            browser.until(&format!(
                "return biela.time() > {}",
                if model == "stewart" { 0.3 } else { 0.1 }
            ));
            browser.run("document.getElementById('play').click(); scrollTo(0, 1e6);");
            // The software renderer of the browser comments on its own reading of pixels; the page has no part in it.
            let mut messages = browser.messages();
            messages.retain(|message| !message.contains("GL Driver Message (OpenGL, Performance"));
            assert!(messages.is_empty(), "{model}, {graphics:?}: {messages:?}");
            let requests = browser.requests();
            let others: Vec<&String> = (requests.iter())
                .filter(|address| !address.starts_with("file:///"))
                .collect();
            assert!(
                others.is_empty() && requests.len() == 1,
                "{model}: {requests:?}"
            );
        }
    }
}

#[test]
fn beams_are_curves_through_their_nodes_with_the_colour_of_their_moment_on_request() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    for (model, beam, nodes, stop) in [
        ("misaligned_four_bar", "cd", 9, "2"),
        ("spin_up", "rod", 17, "6"),
    ] {
        let page = page_of(
            &format!("models/beams/{model}.toml"),
            &format!("beam_{model}"),
            &["--stop", stop],
        );
        browser.open(&page, "");
        slide(&browser, stop.parse().unwrap());
        let pieces = browser.run(&format!("return biela.beam('{beam}')"));
        let pieces = pieces.as_array().unwrap().clone();
        assert_eq!(pieces.len(), 4 * (nodes - 1), "{model}");
        let colors = |pieces: &[Value]| -> std::collections::HashSet<String> {
            pieces
                .iter()
                .map(|piece| piece["color"].to_string())
                .collect()
        };
        assert_eq!(colors(&pieces).len(), 1, "{model}");
        for (k, piece) in pieces.iter().step_by(4).enumerate() {
            let pose = browser.run(&format!("return biela.pose('{beam}.{k}')"));
            for axis in 0..3 {
                let value = |of: &Value| of[axis].as_f64().unwrap();
                let off = value(&piece["start"]) - value(&pose["position"]);
                // Single precision of the picture.
                assert!(off.abs() < 1e-5, "{model} {k}: {piece} {pose}");
            }
        }
        browser.run("document.querySelector('[data-group=bending]').click()");
        let coloured = browser.run(&format!("return biela.beam('{beam}')"));
        let coloured = colors(coloured.as_array().unwrap());
        assert!(coloured.len() > 2, "{model}: {coloured:?}");
        assert!(browser.messages().is_empty(), "{model}");
    }
}

#[test]
fn poses_and_values_at_the_time_of_a_row_are_that_row() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    let planar = ["x", "y", "angle"];
    let spatial = ["x", "y", "z", "qw", "qx", "qy", "qz"];
    for (model, body, fields) in [
        ("slider_crank", "rod", &planar[..]),
        ("spatial_slider_crank", "rod", &spatial[..]),
    ] {
        let mut text = text_of(&format!("models/{model}.toml"));
        for field in fields {
            text += &output(&format!("pose_{field}"), &format!("{body}.{field}"));
        }
        let path = written(&format!("pose_{model}.toml"), &text);
        let (page, csv) = (
            scratch(&format!("pose_{model}.html")),
            scratch(&format!("pose_{model}.csv")),
        );
        assert!(
            run(&path, &page, &["--out", csv.to_str().unwrap()])
                .status
                .success()
        );
        let (names, rows) = table(&csv);
        browser.open(&page, "");
        for index in [0, 1, rows.len() / 3, rows.len() / 2 + 1, rows.len() - 1] {
            let row = &rows[index];
            let value = |name: &str| row[names.iter().position(|n| n == name).unwrap()];
            slide(&browser, row[0]);
            assert_eq!(browser.number("return biela.time()"), row[0]);
            let pose = browser.run(&format!("return biela.pose('{body}')"));
            let number = |of: &str, k: usize| pose[of][k].as_f64().unwrap();
            let expected: [f64; 7] = match fields.len() {
                3 => {
                    let half = value("pose_angle") / 2.0;
                    [
                        value("pose_x"),
                        value("pose_y"),
                        0.0,
                        half.cos(),
                        0.0,
                        0.0,
                        half.sin(),
                    ]
                }
                _ => std::array::from_fn(|k| value(&format!("pose_{}", spatial[k]))),
            };
            for k in 0..7 {
                let found = if k < 3 {
                    number("position", k)
                } else {
                    number("orientation", k - 3)
                };
                assert!(
                    (found - expected[k]).abs() <= AGREEMENT,
                    "{model} row {index}: {pose} {expected:?}"
                );
            }
            for name in &names[1..] {
                let found = browser.number(&format!("return biela.value('{name}')"));
                assert!(
                    (found - value(name)).abs() <= AGREEMENT * value(name).abs().max(1.0),
                    "{name}: {found} {}",
                    value(name)
                );
            }
        }
        let bodies = browser.run("return biela.bodies()");
        assert!(bodies.as_array().unwrap().contains(&Value::from(body)));
        let outputs = browser.run("return biela.outputs()");
        assert_eq!(outputs.as_array().unwrap().len(), names.len() - 1);
    }
}

/// Left, top, width and height of the drawing area of a plot.
fn area(browser: &Browser, index: usize) -> [f64; 4] {
    let script = format!(
        "const e = document.querySelectorAll('.u-over')[{index}]; e.scrollIntoView({{ block: 'center' }}); \
         const r = e.getBoundingClientRect(); return [r.left, r.top, r.width, r.height];"
    );
    let numbers = browser.run(&script);
    std::array::from_fn(|k| numbers[k].as_f64().unwrap())
}

#[test]
fn a_click_or_drag_in_any_plot_seeks_and_all_cursors_follow() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    browser.open(&page_of("models/slider_crank.toml", "click", &[]), "");
    browser.until("return document.querySelectorAll('.u-over').length > 3");
    let cursors = "return [...document.querySelectorAll('.u-over .cursor')].map((c) => { \
        const r = c.parentNode.getBoundingClientRect(); return r.width ? (c.getBoundingClientRect().left + 1 - r.left) / r.width : null; })";
    for plot in [0, 2] {
        for share in [0.25, 0.75] {
            let [left, top, width, height] = area(&browser, plot);
            let point = [left + share * width, top + height / 2.0];
            browser.drag(point, point);
            let t = browser.number("return biela.time()");
            assert!((t - 2.0 * share).abs() < 0.01, "{t}");
            let slider = browser.number("return Number(document.getElementById('slider').value)");
            assert!((slider - t).abs() < 1e-9);
        }
        let [left, top, width, height] = area(&browser, plot);
        let middle = top + height / 2.0;
        browser.drag([left + 0.2 * width, middle], [left + 0.6 * width, middle]);
        assert!((browser.number("return biela.time()") - 1.2).abs() < 0.01);
    }
    slide(&browser, 0.5);
    for place in browser
        .run(cursors)
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
    {
        assert!((place - 0.25).abs() < 0.01, "{place}");
    }
}

#[test]
fn plots_zoom_and_pan_together() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    browser.open(&page_of("models/slider_crank.toml", "zoom", &[]), "");
    browser.until("return document.querySelectorAll('.u-over').length > 3");
    browser.run("biela.seek(1); document.querySelector('.plot').focus();");
    browser.key("+");
    browser.key("+");
    browser.until("return !document.getElementById('zoomed').hidden");
    let [left, top, width, height] = area(&browser, 1);
    browser.drag(
        [left + 1.0, top + height / 2.0],
        [left + 1.0, top + height / 2.0],
    );
    let first = browser.number("return biela.time()");
    assert!((first - (1.0 - 0.49)).abs() < 0.01, "{first}");
    browser.key("]");
    browser.drag(
        [left + 1.0, top + height / 2.0],
        [left + 1.0, top + height / 2.0],
    );
    assert!(browser.number("return biela.time()") > first + 0.1);
    browser.run("document.getElementById('zoomed').click();");
    browser.drag(
        [left + width - 1.0, top + height / 2.0],
        [left + width - 1.0, top + height / 2.0],
    );
    assert!((browser.number("return biela.time()") - 2.0).abs() < 0.02);
}

#[test]
fn the_picture_moves_with_and_without_webgl() {
    let pixels = "const c = document.getElementById('scene'); return c.toDataURL().length + ':' + c.toDataURL().slice(-3000)";
    for (graphics, fragment, model) in [
        (Graphics::None, "", "slider_crank"),
        (Graphics::None, "", "stewart"),
        // The processor draws on the canvas faster than it computes WebGL.
        (Graphics::SoftwareWebgl, "", "stewart"),
        (Graphics::SoftwareWebgl, "#webgl", "stewart"),
    ] {
        let Some(browser) = Browser::start(graphics, 1000, 700) else {
            return;
        };
        let page = page_of(
            &format!("models/{model}.toml"),
            &format!("moves_{model}"),
            &[],
        );
        browser.open(&page, fragment);
        let kind = if fragment.is_empty() { "2d" } else { "webgl2" };
        let has = browser.run(&format!(
            "return Boolean(document.getElementById('scene').getContext('{kind}'))"
        ));
        assert_eq!(has, true, "{model} {graphics:?}");
        let frame = "requestAnimationFrame(() => requestAnimationFrame(() => done(true)))";
        let mut seen = Vec::new();
        for act in [
            "biela.seek(0)",
            "biela.seek(0.06)",
            "document.querySelector('[data-view=back]').click()",
        ] {
            browser.run(act);
            browser.wait(frame);
            seen.push(browser.run(pixels));
        }
        assert!(
            seen[0] != seen[1] && seen[1] != seen[2],
            "{model} {graphics:?}"
        );
    }
}

#[test]
fn the_keyboard_reaches_everything() {
    let Some(browser) = Browser::start(Graphics::None, 1400, 900) else {
        return;
    };
    browser.open(&page_of("models/slider_crank.toml", "keys", &[]), "");
    let mut reached = Vec::new();
    for _ in 0..80 {
        browser.key("Tab");
        let name = browser.run(
            "const e = document.activeElement; return e.id || e.dataset.view || e.className || e.textContent",
        );
        if reached.first() == Some(&name) {
            break;
        }
        reached.push(name);
    }
    for wanted in [
        "theme", "stage", "play", "previous", "next", "slider", "speed", "loop", "plot", "front",
    ] {
        assert!(
            reached.contains(&Value::from(wanted)),
            "{wanted}: {reached:?}"
        );
    }
    browser.run("document.getElementById('stage').focus();");
    let time = || browser.number("return biela.time()");
    browser.key("End");
    assert_eq!(time(), 2.0);
    browser.key("Left");
    assert!((time() - 1.99).abs() < 1e-9);
    browser.key("Home");
    browser.key("Right");
    browser.key("Right");
    assert!((time() - 0.02).abs() < 1e-9);
    browser.key(" ");
    browser.until("return biela.time() > 0.1");
    browser.key(" ");
    let stopped = time();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(time(), stopped);
}

#[test]
fn the_page_is_dark_or_light_narrow_and_on_paper() {
    let Some(browser) = Browser::start(Graphics::None, 800, 1000) else {
        return;
    };
    let page = page_of("models/slider_crank.toml", "looks", &[]);
    let brightness = "const c = getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).slice(0, 3).map(Number); \
        const s = document.getElementById('scene'); const p = s.getContext('2d').getImageData(s.width - 4, s.height - 4, 1, 1).data; \
        return [(c[0] + c[1] + c[2]) / 765, (p[0] + p[1] + p[2]) / 765];";
    for (scheme, bright) in [("light", true), ("dark", false)] {
        browser.prefer(scheme);
        browser.open(&page, "");
        let found = browser.run(brightness);
        for k in 0..2 {
            assert_eq!(found[k].as_f64().unwrap() > 0.5, bright, "{scheme} {found}");
        }
        browser.run("document.getElementById('theme').click();");
        browser.wait("requestAnimationFrame(() => requestAnimationFrame(() => done(true)))");
        let found = browser.run(brightness);
        assert_eq!(
            found[1].as_f64().unwrap() > 0.5,
            !bright,
            "{scheme} turned {found}"
        );
        let width = browser.number("return document.scrollingElement.scrollWidth");
        assert!(width <= 800.0, "wider than the window: {width}");
    }
    let paper = browser.command(
        "Page.printToPDF",
        serde_json::json!({ "printBackground": true }),
    );
    assert!(paper["data"].as_str().unwrap().len() > 50_000);
    assert!(browser.messages().is_empty());
}

#[test]
fn texts_of_the_model_are_shown_and_never_run() {
    let Some(browser) = Browser::start(Graphics::None, 1000, 700) else {
        return;
    };
    let evil = "</script><script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'><!--";
    let mut text = text_of("models/slider_crank.toml");
    text += &format!(
        "\n# {evil}\n[[output]]\nname = \"odd\"\nsource = \"slider.x\"\nunit = \"{evil}\"\n"
    );
    let page = scratch("evil.html");
    let output = run(&written("evil.toml", &text), &page, &[]);
    // A unit that is no unit may be refused; then only the comment is shown.
    if !output.status.success() {
        let text = text_of("models/slider_crank.toml") + &format!("\n# {evil}\n");
        assert!(
            run(&written("evil.toml", &text), &page, &[])
                .status
                .success()
        );
    }
    browser.open(&page, "");
    assert_eq!(browser.run("return window.hurt === undefined"), true);
    let shown = browser.run("return document.getElementById('text').textContent");
    assert!(shown.as_str().unwrap().contains(evil));
    assert!(browser.messages().is_empty());
}
