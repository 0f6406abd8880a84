package profilecases

// selectionCases are about which pods a profile applies to.
func selectionCases() []Case {
	const marked = `metadata: {labels: {app: spark, tier: batch}}`
	const changed = `metadata: {labels: {app: spark, tier: batch, hit: "1"}}`
	profile := func(selectors string) string {
		return `[{metadata: {name: a}, spec: {labels: {hit: "1"}, ` + selectors + `}}]`
	}
	return []Case{
		{Name: "both selectors match", Profiles: profile(`namespaceSelector: {matchLabels: {team: analytics}}, selector: {matchLabels: {app: spark}}`), Pod: marked, WantPod: changed},
		{Name: "the namespace does not match", Profiles: profile(`namespaceSelector: {matchLabels: {team: shop}}`), Pod: marked, WantPod: marked},
		{Name: "the pod does not match", Profiles: profile(`selector: {matchLabels: {app: flink}}`), Pod: marked, WantPod: marked},
		{Name: "empty selectors match everything", Profiles: profile(`namespaceSelector: {}, selector: {}`), Pod: marked, WantPod: changed},
		{Name: "one of several values", Profiles: profile(`selector: {matchExpressions: [{key: app, operator: In, values: [flink, spark]}]}`), Pod: marked, WantPod: changed},
		{Name: "none of several values", Profiles: profile(`selector: {matchExpressions: [{key: app, operator: NotIn, values: [flink, spark]}]}`), Pod: marked, WantPod: marked},
		{Name: "not a value of an absent key", Profiles: profile(`selector: {matchExpressions: [{key: other, operator: NotIn, values: [x]}]}`), Pod: marked, WantPod: changed},
		{Name: "a key that exists", Profiles: profile(`selector: {matchExpressions: [{key: tier, operator: Exists}]}`), Pod: marked, WantPod: changed},
		{Name: "a key that must not exist", Profiles: profile(`namespaceSelector: {matchExpressions: [{key: team, operator: DoesNotExist}]}`), Pod: marked, WantPod: marked},
		{Name: "a selector that cannot be read selects nothing", Profiles: profile(`selector: {matchExpressions: [{key: app, operator: In}]}`), Pod: marked, WantPod: marked},
		{Name: "a pod without labels", Profiles: profile(`selector: {matchLabels: {app: spark}}`), Pod: `{}`, WantPod: `{}`},
		{Name: "probability 50 applies to a draw of 49", Profiles: profile(`probability: 50`), Pod: marked, Draw: 49, WantPod: changed, WantWebhook: true},
		{Name: "probability 50 does not apply to a draw of 50", Profiles: profile(`probability: 50`), Pod: marked, Draw: 50, WantPod: marked, WantWebhook: true},
		{Name: "a probability as a percentage", Profiles: profile(`probability: "1%"`), Pod: marked, Draw: 0, WantPod: changed, WantWebhook: true},
		{Name: "probability 0 never applies", Profiles: profile(`probability: 0`), Pod: marked, WantPod: marked},
		{Name: "probability 100 always applies", Profiles: profile(`probability: "100%"`), Pod: marked, Draw: 99, WantPod: changed},
		{
			Name:     "a selector on a label that the profile sets to a value it selects",
			Profiles: `[{metadata: {name: a}, spec: {selector: {matchLabels: {tier: batch}}, labels: {tier: batch, hit: "1"}}}]`,
			Pod:      marked, WantPod: changed,
		},
	}
}

// severalCases are about more than one profile.
func severalCases() []Case {
	return []Case{
		{
			Name: "profiles apply in the order of their names, the last one wins",
			Profiles: `
- {metadata: {name: b}, spec: {labels: {x: b}, schedulerName: second}}
- {metadata: {name: a}, spec: {labels: {x: a, y: a}, schedulerName: first}}
`,
			Pod:     `{}`,
			WantPod: `{metadata: {labels: {x: b, y: a}}, spec: {schedulerName: second}}`,
		},
		{
			Name: "a profile is matched with the pod as it came, not as another one left it",
			Profiles: `
- {metadata: {name: a}, spec: {labels: {stage: two}}}
- {metadata: {name: b}, spec: {selector: {matchLabels: {stage: two}}, labels: {hit: "1"}}}
`,
			Pod:         `{}`,
			WantPod:     `metadata: {labels: {stage: two}}`,
			WantWebhook: true,
		},
		{
			Name: "a pod that needs the webhook for one profile gets all of them there",
			Profiles: `
- {metadata: {name: a}, spec: {labels: {x: a}}}
- {metadata: {name: b}, spec: {labels: {x: b}, patch: {spec: {nodeSelector: {pool: batch}}}}}
`,
			Pod:         `{}`,
			WantPod:     `{metadata: {labels: {x: b}}, spec: {nodeSelector: {pool: batch}}}`,
			WantWebhook: true,
		},
		{
			Name: "a profile for others does not take a pod away from the policy",
			Profiles: `
- {metadata: {name: a}, spec: {labels: {x: a}}}
- {metadata: {name: b}, spec: {selector: {matchLabels: {app: other}}, probability: 50}}
`,
			Pod:     `{}`,
			WantPod: `metadata: {labels: {x: a}}`,
		},
		{
			Name: "keys mapped in a chain follow the order of the keys",
			Profiles: `
- {metadata: {name: a}, spec: {labelKeysMapping: {a: b, b: c}}}
`,
			Pod:         `metadata: {labels: {a: "1", b: "2"}}`,
			WantPod:     `metadata: {labels: {a: "1", b: "1", c: "1"}}`,
			WantWebhook: true,
		},
		{
			Name: "one profile that leaves resources alone does so for all",
			Profiles: `
- {metadata: {name: a}, spec: {priorityClassName: koord-batch, qosClass: BE}}
- {metadata: {name: b, annotations: {config.koordinator.sh/skip-update-resources: "true"}}, spec: {labels: {x: "1"}}}
`,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `
metadata: {labels: {x: "1", koordinator.sh/qosClass: BE}}
spec: {priorityClassName: koord-batch, priority: 5500, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
`,
		},
		{Name: "no profiles at all", Profiles: `[]`, Pod: `metadata: {labels: {x: "1"}}`, WantPod: `metadata: {labels: {x: "1"}}`},
	}
}
