package queryhint

import (
	"fmt"
	"time"
)

// Settings of the hints.
type Settings struct {
	// HotMemoryPercent of its capacity is what a node uses when its memory is hot, 1 to 100, 80 by default.
	HotMemoryPercent int64
	// MaxNodes bounds the nodes that a hint prefers, 1 to MostNodes, 20 by default.
	MaxNodes int
	// Fresh is the age up to which a measurement counts, 3 minutes by default, as long as LoadAwareScheduling goes by one.
	Fresh time.Duration
}

// MostNodes is the most that a hint may prefer: what plugin SchedulingHint accepts unless its maxHintNodes is lowered.
const MostNodes = 100

// Horizon is how far ahead predictions are looked at.
const Horizon = time.Hour

// DefaultSettings are those that nobody chose.
func DefaultSettings() Settings {
	return Settings{HotMemoryPercent: 80, MaxNodes: 20, Fresh: 3 * time.Minute}
}

// Validate says what of the settings is out of its range.
func (s Settings) Validate() error {
	switch {
	case s.HotMemoryPercent < 1 || s.HotMemoryPercent > 100:
		return fmt.Errorf("hot memory of %d percent must be between 1 and 100", s.HotMemoryPercent)
	case s.MaxNodes < 1 || s.MaxNodes > MostNodes:
		return fmt.Errorf("%d nodes of a hint must be between 1 and %d", s.MaxNodes, MostNodes)
	case s.Fresh <= 0:
		return fmt.Errorf("%s up to which a measurement counts must be positive", s.Fresh)
	}
	return nil
}
