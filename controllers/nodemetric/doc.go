// Package nodemetric keeps one NodeMetric for every Node, whose spec configures what koordlet measures and how often.
// The status is the agent's alone. Fields of the spec this version does not know are left as they are.
package nodemetric
