//! The worker program: its commands, and a host's conversation with it over a real socket.

mod binary;
mod host;

mod cases;
mod commands;
mod programs;
mod serve;
mod storage;
