// Package devices holds what scheduler plugins know of accelerators: what the Device of each node offers, decoded once,
// and what pods hold of it. There is one State in a scheduler; all profiles, and the explanations, read it.
package devices
