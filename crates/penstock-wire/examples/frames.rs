//! Prints one frame of each kind, a name and hexadecimal digits on each line.

#[allow(dead_code, reason = "the test uses more of it")]
#[path = "../tests/frames/samples.rs"]
mod samples;

fn main() {
    print!("{}", samples::listing());
}
