// Package histogram counts samples of usage in buckets that grow exponentially, with weights that halve with age. It is the
// memory of everything that learns from usage: the prediction of peaks on a node and the recommendation of requests. A
// histogram is bounded by its buckets, merges with others of its kind, and goes into a checkpoint of at most a few
// hundred bytes.
package histogram
