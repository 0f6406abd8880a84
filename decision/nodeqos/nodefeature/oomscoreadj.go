package nodefeature

// OOMScoreAdj sets oom_score_adj by annotation.
var OOMScoreAdj = Spec{
	Name:       "OOMScoreAdj",
	Kind:       Values,
	Summary:    "sets `oom_score_adj` of the processes of annotated containers",
	Decision:   "decision/nodeqos/oomscore",
	Docs:       "node-settings.md#oomscoreadj",
	Configured: followsPods,
}
