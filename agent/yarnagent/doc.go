// Package yarnagent is koord-yarn-agent: it finds the containers that YARN's NodeManager runs on a node, keeps their processes in cgroups
// below that of best-effort pods, and lets koordlet list and end them by the protocol of package copilot.
//
// It reads the NodeManager's REST API and the trees of the kernel, and knows no API server.
package yarnagent
