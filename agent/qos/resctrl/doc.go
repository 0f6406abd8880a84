// Package resctrl gives classes of pods, and single pods, their shares of the last-level cache and of the memory bandwidth: it
// makes a group of processes for each, writes the schemata, and keeps the threads of containers in their group.
package resctrl
