//! temp
#![allow(dead_code)]
mod board;
mod graph;
