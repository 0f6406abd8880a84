// Package blkio decides bounds and weights of block devices: for the root, which says how fast a disk is and when it counts as
// saturated, for the classes, and for single pods and their volumes. A class that is switched off is reset: no bounds, weight
// 100, no latency to keep.
package blkio
