//! Prints `include/biela.h`: the declarations of the files of `src/capi` given as arguments, in that order.

use std::path::Path;

fn main() -> Result<(), cbindgen::Error> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in std::env::args().skip(1) {
        builder = builder.with_src(root.join("src/capi").join(source));
    }
    builder.generate()?.write(std::io::stdout().lock());
    Ok(())
}
