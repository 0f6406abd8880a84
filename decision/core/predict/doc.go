// Package predict estimates the peak of what a set of pods will use, from what each of them used. Every profile is a
// Predictor: a pure function of a History, which returns the peak and the terms it was made of.
//
// The building blocks are the ones the field knows: N-sigma (mean plus N standard deviations of the sum, which profits from
// pods that do not peak together), RC-like (the sum of each pod's percentile, which does not), the seasonal maximum (the
// same hours of the days before), Koordinator's own (decaying histograms per pod and of the sum), and a static share of the
// limits. Profiles combine them; the larger of two always counts. Replay judges profiles by a recorded load.
package predict
