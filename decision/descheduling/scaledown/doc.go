// Package scaledown ranks pods for a scale-down so that whole nodes become empty: the pods of nodes on which little else runs leave
// first. The rank is written to pods as their deletion cost, by which their controllers choose, or the first pods are evicted.
package scaledown
