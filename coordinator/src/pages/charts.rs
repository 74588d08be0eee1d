//! Pictures of numbers, as SVG.
