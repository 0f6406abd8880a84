// Package freshness says whether a measurement may be acted on. Data that is missing, older than two of the periods in which
// it should arrive, or from the future decides nothing that takes something from a pod.
package freshness
