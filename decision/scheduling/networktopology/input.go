package networktopology

import (
	"koordinator.sh/koord/api/extension"
)

// Input of Place.
type Input struct {
	Layers Layers
	Rules  []extension.NetworkTopologyGatherRule
	Nodes  []Node
	// Wanted is the number of members without a node; Needed of them must get one.
	Wanted, Needed int
}
