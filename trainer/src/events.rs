//! The metrics of a run as a TensorBoard event file.
//!
//! The file is a sequence of records: a length in eight bytes, its checksum in four, the data,
//! their checksum in four. A checksum is a masked CRC-32C (rotated and offset), so that the CRC of
//! data with embedded checksums is not constant. The data are an `Event` in the encoding of
//! protocol buffers. The few fields in use are written by hand: a schema compiler would be the
//! trainer's largest dependency.
//!
//! An event must have a wall time. It is the number of steps in seconds, so that a repeated run
//! writes the same bytes.

use crate::run::Line;

/// The file's name, with the prefix that TensorBoard looks for.
pub const FILE: &str = "events.out.tfevents.chuhe";

/// The file version, in the first event.
const VERSION: &str = "brain.Event:2";

/// Encodes a run's metrics.
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

// Wire types, in the lowest three bits of a field's key.
const VARINT: u8 = 0;
const EIGHT_BYTES: u8 = 1;
const LENGTH_DELIMITED: u8 = 2;
const FOUR_BYTES: u8 = 5;

/// Begins an event with its wall time and its step.
fn event(step: u64) -> Vec<u8> {
    let mut event = vec![1 << 3 | EIGHT_BYTES];
    event.extend((step as f64).to_le_bytes());
    // Default values are omitted.
    if step > 0 {
        event.push(2 << 3 | VARINT);
        varint(&mut event, step);
    }
    event
}

/// Appends a length-delimited field: bytes, a text or a message.
fn field(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(number << 3 | LENGTH_DELIMITED);
    varint(message, bytes.len() as u64);
    message.extend(bytes);
}

/// Appends a varint: seven bits a byte, the lowest first; the eighth bit continues.
fn varint(message: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        message.push(number as u8 | 0x80);
        number >>= 7;
    }
    message.push(number as u8);
}

fn record(file: &mut Vec<u8>, bytes: &[u8]) {
    let length = (bytes.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(masked_crc(&length));
    file.extend(bytes);
    file.extend(masked_crc(bytes));
}

fn masked_crc(bytes: &[u8]) -> [u8; 4] {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// TensorBoard's own reader read the line's figures from these bytes.
    #[test]
    fn tensorboard_has_read_the_same_bytes() {
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
            varint(&mut written, number);
            assert_eq!(written, bytes);
        }
    }
}
