// Package files reads and writes the files by which a kernel shows itself: cgroups, /proc and /sys. Everything goes through
// FS, so that the code above runs the same on a kernel and on an imitation of one.
package files
