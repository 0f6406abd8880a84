//go:build race

package tui

// slowed is how much longer the race detector lets a frame take.
const slowed = 8
