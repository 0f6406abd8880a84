package jobinsight

import (
	"encoding/json"
	"strings"
)

// Source is who told of a run.
type Source uint8

// Sources. The numbers are in encoded stores.
const (
	// Pods are runs of pods, whose usage was measured.
	Pods Source = iota
	// YARN are applications, as a ResourceManager tells of them.
	YARN
	// Spark are applications, as their event logs tell of them.
	Spark
	// Trino are queries, as a coordinator tells of them.
	Trino
	sources
)

// String is the name of a source in answers.
func (s Source) String() string { return [...]string{"pods", "yarn", "spark", "trino"}[s] }

// tells says whether runs of a source count for a level. What engines tell of is a whole application or query: pods of other jobs are not
// predicted from it, only what has the same shape.
func (s Source) tells(level Level) bool { return s == Pods || level <= ByShape }

// Sources is a set of them.
type Sources uint8

// SetOf is the set of some sources.
func SetOf(some ...Source) Sources {
	var set Sources
	for _, one := range some {
		set |= 1 << one
	}
	return set
}

// Has says whether a source is in it.
func (s Sources) Has(one Source) bool { return s&(1<<one) != 0 }

// engines says whether any of them is an engine.
func (s Sources) engines() bool { return s&^(1<<Pods) != 0 }

// Names of the sources, in their order.
func (s Sources) Names() []string {
	names := []string{}
	for one := range sources {
		if s.Has(one) {
			names = append(names, one.String())
		}
	}
	return names
}

// String is the names of the sources, separated by commas.
func (s Sources) String() string { return strings.Join(s.Names(), ",") }

// MarshalJSON writes the names.
func (s Sources) MarshalJSON() ([]byte, error) { return json.Marshal(s.Names()) }
