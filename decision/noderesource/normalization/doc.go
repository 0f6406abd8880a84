// Package normalization decides what one cpu of a node is worth in cpus of the reference model: cpu models differ, and so
// does one model with and without hyper-threading and turbo.
package normalization
