// Package resourcescore rates nodes by the resources that a pod would take and leave: NodeResourcesFitPlus with a strategy
// for every resource, ScarceResourceAvoidance by what the node has and the pod has no use for.
package resourcescore
