//! `modelDescription.xml` of both standards: capabilities, units, types, variables, dependencies. All of it comes from the
//! component.

use super::xml::{Xml, number};
use crate::component::{
    Causality, HIGHEST_OUTPUT_DERIVATIVE, InitialKind, Instance, Variability, Variable,
};
use crate::fmi::logger::FmiLogCategory;
use crate::fmi::physical_unit;
use crate::fmi::types::FmiStandard;
use crate::fmi::value_reference::{ArrayVariable, ValueReferences};
use crate::model::Model;

/// The text of the model description.
pub fn description(instance: &Instance, standard: FmiStandard, token: &str) -> String {
    let references = ValueReferences::new(instance, standard == FmiStandard::Three);
    Description {
        instance,
        references,
        standard,
        token,
    }
    .write()
}

struct Description<'a> {
    instance: &'a Instance,
    references: ValueReferences,
    standard: FmiStandard,
    token: &'a str,
}

type Attributes = Vec<(&'static str, String)>;

fn yes() -> String {
    "true".to_owned()
}

impl Description<'_> {
    fn three(&self) -> bool {
        self.standard == FmiStandard::Three
    }

    fn write(&self) -> String {
        let mut xml = Xml::new();
        let model = self.instance.model();
        let token = match self.standard {
            FmiStandard::Two => "guid",
            FmiStandard::Three => "instantiationToken",
        };
        let mut attributes = vec![
            ("fmiVersion", self.standard.version().to_owned()),
            ("modelName", model.name.clone()),
            (token, self.token.to_owned()),
            ("description", described(model)),
            (
                "generationTool",
                concat!("biela ", env!("CARGO_PKG_VERSION")).to_owned(),
            ),
            ("variableNamingConvention", "structured".to_owned()),
        ];
        let notes = &model.notes;
        let said = [
            ("author", &notes.author),
            ("version", &notes.version),
            ("license", &notes.license),
        ];
        for (key, words) in said.into_iter().filter(|(_, words)| !words.is_empty()) {
            attributes.push((key, words.clone()));
        }
        if !self.three() {
            attributes.push(("numberOfEventIndicators", "0".to_owned()));
        }
        xml.element("fmiModelDescription", &attributes, |xml| {
            self.capabilities(xml);
            self.units(xml);
            self.types(xml);
            self.log_categories(xml);
            self.experiment(xml);
            xml.element("ModelVariables", &[], |xml| self.variables(xml));
            xml.element("ModelStructure", &[], |xml| self.structure(xml));
        });
        xml.finish()
    }

    fn capabilities(&self, xml: &mut Xml) {
        let order = HIGHEST_OUTPUT_DERIVATIVE.to_string();
        let identifier = self.instance.model().name.clone();
        let attributes: Attributes = match self.standard {
            FmiStandard::Two => vec![
                ("modelIdentifier", identifier),
                ("canHandleVariableCommunicationStepSize", yes()),
                ("canInterpolateInputs", yes()),
                ("maxOutputDerivativeOrder", order),
                ("canNotUseMemoryManagementFunctions", yes()),
                ("canGetAndSetFMUstate", yes()),
                ("canSerializeFMUstate", yes()),
                ("providesDirectionalDerivative", yes()),
            ],
            FmiStandard::Three => vec![
                ("modelIdentifier", identifier),
                ("canGetAndSetFMUState", yes()),
                ("canSerializeFMUState", yes()),
                ("providesDirectionalDerivatives", yes()),
                ("providesAdjointDerivatives", yes()),
                ("providesPerElementDependencies", yes()),
                ("canHandleVariableCommunicationStepSize", yes()),
                ("maxOutputDerivativeOrder", order),
                ("providesIntermediateUpdate", yes()),
                ("canReturnEarlyAfterIntermediateUpdate", yes()),
            ],
        };
        xml.leaf("CoSimulation", &attributes);
    }

    /// The units in use, each once, in the order of the variables.
    fn units_in_use(&self) -> Vec<&str> {
        let mut units: Vec<&str> = Vec::new();
        let time = self.three().then_some("s");
        let written = self.instance.variables().iter().map(|v| v.unit.as_str());
        for unit in time.into_iter().chain(written) {
            if !unit.is_empty() && !units.contains(&unit) {
                units.push(unit);
            }
        }
        units
    }

    fn units(&self, xml: &mut Xml) {
        let units = self.units_in_use();
        if units.is_empty() {
            return;
        }
        xml.element("UnitDefinitions", &[], |xml| {
            for unit in units {
                xml.element("Unit", &[("name", unit.to_owned())], |xml| {
                    if let Some(parsed) = physical_unit::parse(unit) {
                        let mut attributes: Vec<(&str, String)> = physical_unit::BASE
                            .into_iter()
                            .zip(parsed.exponents)
                            .filter(|(_, exponent)| *exponent != 0)
                            .map(|(base, exponent)| (base, exponent.to_string()))
                            .collect();
                        if parsed.factor != 1.0 {
                            attributes.push(("factor", number(parsed.factor)));
                        }
                        xml.leaf("BaseUnit", &attributes);
                    }
                    for (name, factor) in
                        physical_unit::type_of(unit).map_or(&[][..], |k| k.display_units)
                    {
                        let attributes =
                            [("name", (*name).to_owned()), ("factor", number(*factor))];
                        xml.leaf("DisplayUnit", &attributes);
                    }
                });
            }
        });
    }

    fn types(&self, xml: &mut Xml) {
        let kinds: Vec<&physical_unit::VariableType> = self
            .units_in_use()
            .into_iter()
            .filter_map(physical_unit::type_of)
            .collect();
        if kinds.is_empty() {
            return;
        }
        xml.element("TypeDefinitions", &[], |xml| {
            for kind in kinds {
                let mut attributes = vec![
                    ("quantity", kind.name.to_owned()),
                    ("unit", kind.unit.to_owned()),
                ];
                // Angles are displayed in degrees, all other quantities in SI units; the other display units may be chosen.
                if let (Some((shown, _)), true) =
                    (kind.display_units.first(), kind.unit.starts_with("rad"))
                {
                    attributes.push(("displayUnit", (*shown).to_owned()));
                }
                let name = ("name", type_name(kind));
                match self.standard {
                    FmiStandard::Two => {
                        xml.element("SimpleType", &[name], |xml| xml.leaf("Real", &attributes));
                    }
                    FmiStandard::Three => {
                        attributes.insert(0, name);
                        xml.leaf("Float64Type", &attributes);
                    }
                }
            }
        });
    }

    fn log_categories(&self, xml: &mut Xml) {
        xml.element("LogCategories", &[], |xml| {
            let named = FmiLogCategory::EACH.map(|category| {
                let name = category.name().to_str().unwrap_or("");
                (name, category.description())
            });
            for (name, description) in named.into_iter().chain([FmiLogCategory::all()]) {
                let attributes = [
                    ("name", name.to_owned()),
                    ("description", description.to_owned()),
                ];
                xml.leaf("Category", &attributes);
            }
        });
    }

    fn experiment(&self, xml: &mut Xml) {
        let model = self.instance.model();
        let mut attributes = vec![
            ("startTime", number(model.experiment.start)),
            ("stopTime", number(model.experiment.stop)),
            ("tolerance", number(model.solver.tolerance)),
        ];
        if let Some(interval) = model.experiment.interval {
            attributes.push(("stepSize", number(interval)));
        }
        xml.leaf("DefaultExperiment", &attributes);
    }

    fn variables(&self, xml: &mut Xml) {
        for (reference, variable) in (0_u32..).zip(self.instance.variables()) {
            let mut head: Attributes = vec![
                ("name", variable.name.clone()),
                ("valueReference", reference.to_string()),
            ];
            if !variable.description.is_empty() {
                head.push(("description", variable.description.clone()));
            }
            head.push(("causality", causality(variable).to_owned()));
            head.push(("variability", variability(variable).to_owned()));
            if let Some(initial) = initial(variable) {
                head.push(("initial", initial.to_owned()));
            }
            let value = value(variable);
            match self.standard {
                FmiStandard::Two => {
                    xml.element("ScalarVariable", &head, |xml| xml.leaf("Real", &value));
                }
                FmiStandard::Three => {
                    if computed(variable) {
                        head.push(("intermediateUpdate", yes()));
                    }
                    head.extend(value);
                    xml.leaf("Float64", &head);
                }
            }
        }
        if !self.three() {
            return;
        }
        let time = [
            ("name", "time".to_owned()),
            ("valueReference", self.references.time().to_string()),
            ("description", "Simulation time".to_owned()),
            ("causality", "independent".to_owned()),
            ("variability", "continuous".to_owned()),
            (
                "declaredType",
                physical_unit::type_of("s")
                    .map(type_name)
                    .unwrap_or_default(),
            ),
            ("unit", "s".to_owned()),
        ];
        xml.leaf("Float64", &time);
        for (i, array) in self.references.arrays.iter().enumerate() {
            self.array(xml, self.references.array(i), array);
        }
    }

    fn array(&self, xml: &mut Xml, reference: u32, array: &ArrayVariable) {
        let variables = self.instance.variables();
        let first = &variables[array.elements[0] as usize];
        let names: Vec<&str> = array
            .elements
            .iter()
            .map(|element| variables[*element as usize].name.as_str())
            .collect();
        let mut attributes: Attributes = vec![
            ("name", array.name.clone()),
            ("valueReference", reference.to_string()),
            ("description", format!("({})", names.join(", "))),
            ("causality", self.array_causality(array).to_owned()),
            ("variability", "continuous".to_owned()),
            ("initial", "calculated".to_owned()),
            ("intermediateUpdate", yes()),
        ];
        attributes.extend(value(first));
        xml.element("Float64", &attributes, |xml| {
            xml.leaf("Dimension", &[("start", array.elements.len().to_string())]);
        });
    }

    /// An output if all its elements are, otherwise local.
    fn array_causality(&self, array: &ArrayVariable) -> &'static str {
        let variables = self.instance.variables();
        let is_output = |element: &u32| variables[*element as usize].causality == Causality::Output;
        match array.elements.iter().all(is_output) {
            true => "output",
            false => "local",
        }
    }

    /// All outputs: their references and those of their elements.
    fn outputs(&self) -> Vec<(u32, Vec<u32>)> {
        let scalars = (0..)
            .zip(self.instance.variables())
            .filter(|(_, variable)| variable.causality == Causality::Output)
            .map(|(reference, _)| (reference, vec![reference]));
        let arrays = self.references.arrays.iter().enumerate();
        let arrays = arrays
            .filter(|(_, array)| self.array_causality(array) == "output")
            .map(|(i, array)| (self.references.array(i), array.elements.clone()));
        scalars.chain(arrays).collect()
    }

    fn structure(&self, xml: &mut Xml) {
        let outputs = self.outputs();
        let during = |reference| self.instance.dependencies(reference);
        let initially = |reference| self.instance.initial_dependencies(reference);
        match self.standard {
            FmiStandard::Two => {
                if outputs.is_empty() {
                    return;
                }
                xml.element("Outputs", &[], |xml| {
                    self.unknowns(xml, "Unknown", &outputs, during);
                });
                xml.element("InitialUnknowns", &[], |xml| {
                    self.unknowns(xml, "Unknown", &outputs, initially);
                });
            }
            FmiStandard::Three => {
                self.unknowns(xml, "Output", &outputs, during);
                self.unknowns(xml, "InitialUnknown", &outputs, initially);
            }
        }
    }

    fn unknowns<'d>(
        &self,
        xml: &mut Xml,
        name: &'static str,
        outputs: &[(u32, Vec<u32>)],
        dependencies: impl Fn(u32) -> &'d [u32],
    ) {
        for (reference, elements) in outputs {
            let mut knowns: Vec<u32> = elements
                .iter()
                .flat_map(|element| dependencies(*element).iter().copied())
                .collect();
            knowns.sort_unstable();
            knowns.dedup();
            // FMI 2 refers to variables by their index from 1, FMI 3 by their references; both count in the order of the variables.
            let shift = u32::from(!self.three());
            let list = |words: Vec<String>| words.join(" ");
            let key = if self.three() {
                "valueReference"
            } else {
                "index"
            };
            let attributes = [
                (key, (reference + shift).to_string()),
                (
                    "dependencies",
                    list(knowns.iter().map(|k| (k + shift).to_string()).collect()),
                ),
                (
                    "dependenciesKind",
                    list(vec!["dependent".to_owned(); knowns.len()]),
                ),
            ];
            xml.leaf(name, &attributes);
        }
    }
}

/// The model in its own words, or by its name.
fn described(model: &Model) -> String {
    match model.notes.description.as_str() {
        "" => format!("Mechanism \"{}\"", model.name),
        words => words.to_owned(),
    }
}

/// Name of a type. It has a point, so that it differs from the names of all variables.
fn type_name(kind: &physical_unit::VariableType) -> String {
    format!("SI.{}", kind.name)
}

fn computed(variable: &Variable) -> bool {
    matches!(variable.causality, Causality::Output | Causality::Local)
}

fn causality(variable: &Variable) -> &'static str {
    match variable.causality {
        Causality::Parameter => "parameter",
        Causality::Input => "input",
        Causality::Output => "output",
        Causality::Local => "local",
    }
}

fn variability(variable: &Variable) -> &'static str {
    match variable.variability {
        Variability::Constant => "constant",
        Variability::Fixed => "fixed",
        Variability::Tunable => "tunable",
        Variability::Discrete => "discrete",
        Variability::Continuous => "continuous",
    }
}

fn initial(variable: &Variable) -> Option<&'static str> {
    variable.initial.map(|initial| match initial {
        InitialKind::Exact => "exact",
        InitialKind::Calculated => "calculated",
    })
}

/// Attributes of type, unit, range and start value.
fn value(variable: &Variable) -> Attributes {
    let mut attributes: Attributes = Vec::new();
    if let Some(kind) = physical_unit::type_of(&variable.unit) {
        attributes.push(("declaredType", type_name(kind)));
    }
    if !variable.unit.is_empty() {
        attributes.push(("unit", variable.unit.clone()));
    }
    for (key, bound) in [
        ("min", variable.min),
        ("max", variable.max),
        ("nominal", variable.nominal),
    ] {
        if let Some(bound) = bound {
            attributes.push((key, number(bound)));
        }
    }
    if let Some(start) = variable.start {
        attributes.push(("start", number(start)));
    }
    attributes
}
