package jobinsight

import "strconv"

// Where koord-manager keeps the store: ConfigMaps in the namespace of the system, each with one part.
const (
	// Parts is how many ConfigMaps there are at most.
	Parts = 8
	// PartBytes bounds a part, well below the 1 MiB of a ConfigMap.
	PartBytes = 640 << 10
	// DataKey is the key of a part in binaryData.
	DataKey        = "store"
	configMapNames = "koord-job-insight-"
)

// ConfigMapName is the name of the ConfigMap with a part, from 0 to Parts-1.
func ConfigMapName(part int) string { return configMapNames + strconv.Itoa(part) }
