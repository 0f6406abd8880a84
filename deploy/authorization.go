package deploy

import _ "embed"

// Authorization is a configuration of the API server's authorization, for clusters whose operator sets flags of the API server: no chart
// can. With it koordlet reads what belongs to its node alone.
//
//go:embed apiserver/authorization.yaml
var Authorization []byte

// NowhereKubeconfig is what Authorization names as its webhook's, and never uses.
//
//go:embed apiserver/nowhere.kubeconfig
var NowhereKubeconfig []byte
