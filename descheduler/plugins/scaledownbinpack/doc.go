// Package scaledownbinpack is the plugin ScaleDownBinPack: it asks decision/descheduling/scaledown in which order pods should leave in
// a scale-down, and writes their deletion costs or evicts the first.
package scaledownbinpack
