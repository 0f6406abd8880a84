// Package informer watches custom resources that a cluster may not serve: an absent resource is not an error, it is looked
// for again, and nothing waits for it.
package informer
