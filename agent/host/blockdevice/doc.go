// Package blockdevice finds the block devices of a node by the names that people have for them: files in /dev, volume groups, and
// volumes of pods.
package blockdevice
