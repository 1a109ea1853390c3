//! Scores CUDA kernels.
