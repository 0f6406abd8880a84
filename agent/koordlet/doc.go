// Package koordlet is the agent of a real node. It measures the machine and its pods by their cgroups, reports what it finds,
// and brings the cgroups to what the cluster wants of the node. It goes on with the latest known while the API server is away.
package koordlet
