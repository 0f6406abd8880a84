package nodefeature

// OOMKillReport reports processes of pods that the kernel killed because memory ran out. It is on by default because it only reads and
// reports.
var OOMKillReport = Spec{
	Name:       "OOMKillReport",
	Default:    true,
	Kind:       Other,
	Summary:    "counts the processes of pods that the kernel killed because memory ran out, and records events on the pods",
	Docs:       "node-agent.md#oom-kills",
	Configured: alwaysReports,
}
