// Package scheduleexplanations keeps the answers of ScheduleExplanation objects: an object names a pod, a job or a gang,
// and its status says why that cannot be scheduled, for as long as it matters.
//
// Answers come from the engine that also serves PodExplanations, so the two cannot differ. The Controller runs on the
// leader only. It asks one question at a time, and spends at most a tenth of its time asking.
package scheduleexplanations
