//! The figures of a run as TensorBoard reads them.
//!
//! The file is a row of records: a length in eight bytes, its check in four, as many bytes, their check in four. A check is
//! a CRC-32C that is turned and shifted, so that the CRC of data with checks in them is not always the same. The bytes
//! are an `Event` in the encoding of protocol buffers; the few fields that are used are written by hand, for a
//! compiler of schemas would be the largest dependency of the trainer.
//!
//! An event must have a time. It is not the day's, which a repeated run could not have again, but the number of steps in
//! seconds.

use crate::run::Line;

/// What TensorBoard looks for begins like this.
pub const FILE: &str = "events.out.tfevents.chuhe";

/// The form of the file, which its first event names.
const VERSION: &str = "brain.Event:2";

/// The whole file of a run's figures.
#[must_use]
pub fn of_lines(lines: &[Line]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut version = event(0);
    field(&mut version, 3, VERSION.as_bytes());
    record(&mut file, &version);
    for line in lines {
        let scalars = [
            ("loss", Some(line.loss)),
            ("validation_loss", line.validation_loss),
            ("learning_rate", Some(line.learning_rate)),
            ("lambda", Some(line.lambda.into())),
        ];
        let mut summary = Vec::new();
        for (tag, value) in scalars {
            let Some(value) = value else { continue };
            let mut scalar = Vec::new();
            field(&mut scalar, 1, tag.as_bytes());
            scalar.push(2 << 3 | FOUR_BYTES);
            scalar.extend((value as f32).to_le_bytes());
            field(&mut summary, 1, &scalar);
        }
        let mut event = event(line.step);
        field(&mut event, 5, &summary);
        record(&mut file, &event);
    }
    file
}

// How a field is written, in the lowest three bits of its key.
const VARIABLE: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const WITH_LENGTH: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// The beginning of an event: its time and its step.
fn event(step: u64) -> Vec<u8> {
    let mut event = vec![1 << 3 | EIGHT_BYTES];
    event.extend((step as f64).to_le_bytes());
    // What is zero is left out.
    if step > 0 {
        event.push(2 << 3 | VARIABLE);
        variable(&mut event, step);
    }
    event
}

/// A field of bytes, a text or a message.
fn field(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(number << 3 | WITH_LENGTH);
    variable(message, bytes.len() as u64);
    message.extend(bytes);
}

/// Seven bits a byte, the lowest first; the eighth says that more follow.
fn variable(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

fn record(file: &mut Vec<u8>, bytes: &[u8]) {
    let length = (bytes.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(check(&length));
    file.extend(bytes);
    file.extend(check(bytes));
}

fn check(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// These bytes were read by TensorBoard's own reader, which found in them the figures of the line.
    #[test]
    fn the_bytes_are_what_tensorboard_has_read() {
        let line = Line {
            step: 300,
            epoch: 1,
            positions: 3_000,
            loss: 0.5,
            validation_loss: Some(0.25),
            best_validation_loss: None,
            learning_rate: 0.001,
            lambda: 0.75,
        };
        let hex = of_lines(&[line]).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        assert_eq!(
            hex,
            "\
             1800000000000000a37f4b220900000000000000001a0d627261696e2e4576656e743a32eedf28a3\
             5800000000000000a28b2f8c090000000000c0724010ac022a4a0a0b0a046c6f7373150000003f0a\
             160a0f76616c69646174696f6e5f6c6f7373150000803e0a140a0d6c6561726e696e675f72617465\
             156f12833a0a0d0a066c616d626461150000403f3ac8fa5a"
        );
    }

    #[test]
    fn a_figure_that_is_not_there_is_left_out() {
        let line = |validation_loss| Line {
            step: 1,
            epoch: 1,
            positions: 1,
            loss: 0.5,
            validation_loss,
            best_validation_loss: None,
            learning_rate: 0.1,
            lambda: 1.0,
        };
        let has = |line| of_lines(&[line]).windows(15).any(|bytes| bytes == b"validation_loss");
        assert!(has(line(Some(0.0))) && !has(line(None)));
    }

    #[test]
    fn long_numbers_take_more_bytes() {
        for (number, bytes) in [(0, &[0_u8][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2])] {
            let mut written = Vec::new();
            variable(&mut written, number);
            assert_eq!(written, bytes);
        }
    }
}
