//! Prototype switches: numbers from the environment, read once.
/// Value of BIELA_<name>, or the default.
#[macro_export]
macro_rules! proto {
    ($name:literal, $default:expr) => {{
        static M: std::sync::OnceLock<f64> = std::sync::OnceLock::new();
        *M.get_or_init(|| {
            std::env::var(concat!("BIELA_", $name))
                .ok()
                .and_then(|x| x.parse().ok())
                .unwrap_or($default)
        })
    }};
}
