// Package recommender keeps the status of Recommendations: what the containers of a workload should request, learned from
// the usage that NodeMetrics report. Usage is reported for pods; that of pods with several containers is divided among them.
// What was learned is checkpointed in the status of the Recommendation it is for, so that it is written together with what
// was concluded from it, goes when the Recommendation goes, and needs no object of its own. Resizing running pods is off
// unless the manager is told to, and the Recommendation asks for it.
package recommender
