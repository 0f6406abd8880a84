package profilecases

// fieldCases are about single fields.
func fieldCases() []Case {
	return []Case{
		{
			Name: "every field a profile can set",
			Profiles: `
- metadata: {name: everything}
  spec:
    labels: {added: "yes", replaced: new}
    annotations: {note: "a \"quoted\" text, a backslash \\ and 中文"}
    labelKeysMapping: {app: app-copy}
    annotationKeysMapping: {source: target}
    labelSuffixes: {quota.scheduling.koordinator.sh/name: -batch}
    schedulerName: koord-scheduler
    qosClass: BE
    priorityClassName: koord-batch
    koordinatorPriority: 1111
    patch: {metadata: {labels: {patched: "1"}, annotations: {patched: "2"}}}
`,
			Pod: `
metadata:
  labels: {app: spark, replaced: old, quota.scheduling.koordinator.sh/name: team-a}
  annotations: {source: value}
`,
			WantPod: `
metadata:
  labels:
    app: spark
    added: "yes"
    replaced: new
    app-copy: spark
    quota.scheduling.koordinator.sh/name: team-a-batch
    koordinator.sh/qosClass: BE
    koordinator.sh/priority: "1111"
    patched: "1"
  annotations: {source: value, note: "a \"quoted\" text, a backslash \\ and 中文", target: value, patched: "2"}
spec: {schedulerName: koord-scheduler, priorityClassName: koord-batch, priority: 5500, preemptionPolicy: PreemptLowerPriority}
`,
		},
		{
			Name:     "a pod without labels and annotations gets both",
			Profiles: `[{metadata: {name: a}, spec: {labels: {x: "1"}, annotations: {y: "2"}}}]`,
			Pod:      `{}`,
			WantPod:  `metadata: {labels: {x: "1"}, annotations: {y: "2"}}`,
		},
		{
			Name:     "a key that the pod does not have is not mapped and not created by a suffix",
			Profiles: `[{metadata: {name: a}, spec: {labelKeysMapping: {absent: copy}, annotationKeysMapping: {absent: copy}, labelSuffixes: {gone: -s}}}]`,
			Pod:      `metadata: {labels: {copy: kept}}`,
			WantPod:  `metadata: {labels: {copy: kept}}`,
		},
		{
			Name:     "a suffix that is there already is not added again",
			Profiles: `[{metadata: {name: a}, spec: {labelSuffixes: {pool: -batch}}}]`,
			Pod:      `metadata: {labels: {pool: blue-batch}}`,
			WantPod:  `metadata: {labels: {pool: blue-batch}}`,
		},
		{
			Name:     "a patch removes labels and annotations by null",
			Profiles: `[{metadata: {name: a}, spec: {patch: {metadata: {labels: {x: null, z: "3"}, annotations: {only: null}}}}}]`,
			Pod:      `metadata: {labels: {x: "1", y: "2"}, annotations: {only: one}}`,
			WantPod:  `metadata: {labels: {y: "2", z: "3"}}`,
		},
		{
			Name:        "a patch of the spec merges lists by their keys",
			Profiles:    `[{metadata: {name: a}, spec: {patch: {spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [db]}], nodeSelector: {pool: batch}, terminationGracePeriodSeconds: 5}}}}]`,
			Pod:         `spec: {hostAliases: [{ip: 10.0.0.2, hostnames: [cache]}], nodeSelector: {zone: a}}`,
			WantPod:     `spec: {hostAliases: [{ip: 10.0.0.1, hostnames: [db]}, {ip: 10.0.0.2, hostnames: [cache]}], nodeSelector: {pool: batch, zone: a}, terminationGracePeriodSeconds: 5}`,
			WantWebhook: true,
		},
		{
			Name:        "a patch of the spec changes a container by its name",
			Profiles:    `[{metadata: {name: a}, spec: {patch: {spec: {containers: [{name: main, env: [{name: MODE, value: batch}]}]}}}}]`,
			Pod:         `spec: {containers: [{name: main, env: [{name: A, value: b}]}]}`,
			WantPod:     `spec: {containers: [{name: main, env: [{name: MODE, value: batch}, {name: A, value: b}]}]}`,
			WantWebhook: true,
		},
		{
			Name:        "a priority class that does not exist refuses the pod",
			Profiles:    `[{metadata: {name: a}, spec: {priorityClassName: absent}}]`,
			Pod:         `{}`,
			WantError:   `colocation profile "a": priorityclass "absent" not found`,
			WantWebhook: true,
		},
	}
}
