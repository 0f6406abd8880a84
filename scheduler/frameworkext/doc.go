// Package frameworkext wraps the framework of a scheduler profile where the plugins' own extension points do not reach: nodes on
// which a pod has room reserved are shown to all plugins without what holds that room, nodes that a plugin proposes are
// tried before all others, equal pods are placed without a search for each, and every attempt is recorded.
package frameworkext
