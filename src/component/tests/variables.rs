//! The list of variables.

use crate::component::tests as testing;
use crate::component::variables::*;
use crate::error::Error;
use crate::model::Expose;

fn catalogue() -> VariableCatalogue {
    VariableCatalogue::new(&testing::model()).unwrap()
}

#[test]
fn inputs_come_first_then_outputs_then_parameters() {
    let causalities: Vec<_> = catalogue().variables.iter().map(|v| v.causality).collect();
    let mut expected = vec![Causality::Input];
    expected.extend([Causality::Output; 8]);
    expected.extend([Causality::Parameter; 2]);
    assert_eq!(causalities, expected);
}

#[test]
fn every_variable_is_found_by_its_name_and_has_the_start_value_of_the_model() {
    let catalogue = catalogue();
    for (i, variable) in catalogue.variables.iter().enumerate() {
        assert_eq!(catalogue.find(&variable.name).unwrap(), i as u32);
    }
    let starts: Vec<_> = catalogue.variables.iter().map(|v| v.start).collect();
    assert_eq!(starts[testing::PUSH as usize], Some(0.5));
    assert_eq!(starts[testing::X as usize], None);
    assert_eq!(starts[testing::STIFFNESS as usize], Some(4.0));
}

#[test]
fn a_unit_that_is_not_written_is_that_of_the_quantity() {
    let mut model = testing::model();
    model.outputs[0].unit = Some("mm".to_string());
    let catalogue = VariableCatalogue::new(&model).unwrap();
    let unit = |reference: u32| &*catalogue.variables[reference as usize].unit;
    assert_eq!(unit(testing::X), "mm");
    assert_eq!(unit(testing::V), "m/s");
    assert_eq!(unit(testing::STIFFNESS), "N/m");
    assert_eq!(unit(testing::MASS), "kg");
    assert_eq!(unit(testing::STEPS), "");
}

#[test]
fn what_can_be_set_says_within_which_bounds_and_what_it_stands_for() {
    let catalogue = catalogue();
    let of = |reference: u32| &catalogue.variables[reference as usize];
    let (push, x, mass) = (of(testing::PUSH), of(testing::X), of(testing::MASS));
    assert_eq!((push.min, push.max, push.initial), (None, None, None));
    assert_eq!(push.variability, Variability::Continuous);
    assert_eq!(push.description, "motor.force");
    assert_eq!(
        (mass.min, mass.initial),
        (Some(0.0), Some(InitialKind::Exact))
    );
    assert_eq!(mass.variability, Variability::Tunable);
    assert_eq!((x.min, x.initial), (None, Some(InitialKind::Calculated)));
    assert_eq!(
        (x.variability, &*x.description),
        (Variability::Continuous, "mass.x")
    );
    assert_eq!(of(testing::STEPS).variability, Variability::Discrete);
}

#[test]
fn all_quantities_are_shown_where_the_model_asks_for_it() {
    let mut model = testing::model();
    let declared = VariableCatalogue::new(&model).unwrap().variables;
    model.expose = Expose::All;
    let all = VariableCatalogue::new(&model).unwrap();
    assert_eq!(all.variables[..declared.len()], declared);
    let locals = &all.variables[declared.len()..];
    assert_eq!(locals.len(), model.quantities().len());
    assert!(locals.iter().all(|v| v.causality == Causality::Local));
    let speed = all.find("mass.vx").unwrap();
    assert_eq!(all.variables[speed as usize].unit, "m/s");
    assert!(matches!(
        all.settable(speed, 1.0),
        Err(Error::NotSettable { .. })
    ));
}

#[test]
fn an_unknown_name_is_answered_with_the_nearest_one() {
    let error = catalogue().find("stifness").unwrap_err();
    let expected = Error::UnknownVariable {
        name: "stifness".to_string(),
        nearest: Some("stiffness".to_string()),
    };
    assert_eq!(error, expected);
}

#[test]
fn an_unknown_reference_is_refused() {
    let error = catalogue().source(testing::COUNT).unwrap_err();
    let (reference, count) = (testing::COUNT, testing::COUNT as usize);
    assert_eq!(error, Error::UnknownReference { reference, count });
}

#[test]
fn what_cannot_be_written_is_refused_by_name() {
    let catalogue = catalogue();
    let refusal = |reference: u32, value: f64| {
        let error = catalogue.settable(reference, value).unwrap_err();
        error.to_string()
    };
    assert!(refusal(testing::X, 1.0).starts_with("\"x\" cannot be set"));
    assert!(refusal(testing::PUSH, f64::NAN).starts_with("push = NaN"));
    assert!(refusal(testing::STIFFNESS, f64::INFINITY).starts_with("stiffness = inf"));
    assert!(refusal(testing::MASS, -1.0).starts_with("mass = -1.0: expected a finite number >= 0"));
    assert!(refusal(testing::STIFFNESS, -1.0).starts_with("stiffness = -1.0"));
    assert!(catalogue.settable(testing::MASS, 0.0).is_ok());
    assert!(catalogue.settable(testing::PUSH, -1.0).is_ok());
}

#[test]
fn derivatives_are_for_inputs_and_of_order_one_or_two() {
    let catalogue = catalogue();
    assert_eq!(catalogue.derivable(testing::PUSH, 1, -3.0), Ok(0));
    assert_eq!(catalogue.derivable(testing::PUSH, 2, 0.0), Ok(0));
    for order in [0, 3, u32::MAX] {
        let error = catalogue.derivable(testing::PUSH, order, 0.0).unwrap_err();
        assert!(matches!(error, Error::Argument { .. }), "{error}");
    }
    let error = catalogue.derivable(testing::PUSH, 1, f64::NAN).unwrap_err();
    assert!(matches!(error, Error::NotFinite { .. }), "{error}");
    for reference in [testing::X, testing::STIFFNESS] {
        let error = catalogue.derivable(reference, 1, 0.0).unwrap_err();
        assert!(matches!(error, Error::NotSettable { .. }), "{error}");
    }
}
