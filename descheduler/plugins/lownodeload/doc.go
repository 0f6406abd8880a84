// Package lownodeload is the plugin LowNodeLoad: it asks decision/descheduling/lownodeload which pods should leave overutilized nodes,
// and evicts them.
package lownodeload
