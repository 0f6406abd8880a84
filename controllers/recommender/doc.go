// Package recommender keeps the status of Recommendations: what the containers of a workload should request, learned from the usage
// that NodeMetrics report. Usage is reported for pods; that of pods with several containers is divided among them. What was learned is
// checkpointed in the status of the Recommendation it is for: it is written together with the conclusions, is deleted with the
// Recommendation, and needs no separate object. Running pods are resized only if the manager is configured to, and the Recommendation
// asks for it.
package recommender
