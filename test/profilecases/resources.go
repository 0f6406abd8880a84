package profilecases

const (
	batch = `[{metadata: {name: batch}, spec: {qosClass: BE, priorityClassName: koord-batch}}]`
	mid   = `[{metadata: {name: mid}, spec: {qosClass: LS, priorityClassName: koord-mid}}]`
	plain = `[{metadata: {name: plain}, spec: {labels: {x: "1"}}}]`
)

const (
	batchMeta = `labels: {koordinator.sh/qosClass: BE}`
	batchSpec = `priorityClassName: koord-batch, priority: 5500`
	repeated  = `node.koordinator.sh/extended-resource-spec`
)

// resourceCases are about the translation of resources.
func resourceCases() []Case {
	return []Case{
		{
			Name: "requests and limits of a batch pod become batch resources", Profiles: batch,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: 2500m, memory: 4Gi}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations:
    ` + repeated + `: '{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"2500","kubernetes.io/batch-memory":"4Gi"},"requests":{"kubernetes.io/batch-cpu":"1k","kubernetes.io/batch-memory":"1Gi"}}}}'
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: 1k, kubernetes.io/batch-memory: 1Gi}, limits: {kubernetes.io/batch-cpu: "2500", kubernetes.io/batch-memory: 4Gi}}}]}
`,
		},
		{
			Name: "a mid pod uses mid resources", Profiles: mid,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: 100m, memory: 1M}}}]}`,
			WantPod: `
metadata:
  labels: {koordinator.sh/qosClass: LS}
  annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/mid-cpu":"100","kubernetes.io/mid-memory":"1M"}}}}'}
spec: {priorityClassName: koord-mid, priority: 7500, containers: [{name: main, resources: {requests: {kubernetes.io/mid-cpu: "100", kubernetes.io/mid-memory: 1M}}}]}
`,
		},
		{
			Name: "init containers and sidecars are translated too, other resources are not", Profiles: batch,
			Pod: `
spec:
  initContainers:
  - {name: setup, resources: {requests: {cpu: "2"}}}
  - {name: mesh, restartPolicy: Always, resources: {limits: {cpu: 200m, memory: 64Mi}}}
  containers:
  - {name: worker-b, resources: {requests: {cpu: "1", ephemeral-storage: 1Gi}}}
  - {name: worker, resources: {requests: {memory: 1Gi}}}
  - {name: idle}
`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations:
    ` + repeated + `: '{"containers":{"mesh":{"limits":{"kubernetes.io/batch-cpu":"200","kubernetes.io/batch-memory":"64Mi"},"requests":{"kubernetes.io/batch-cpu":"200","kubernetes.io/batch-memory":"64Mi"}},"setup":{"requests":{"kubernetes.io/batch-cpu":"2k"}},"worker":{"requests":{"kubernetes.io/batch-memory":"1Gi"}},"worker-b":{"requests":{"kubernetes.io/batch-cpu":"1k"}}}}'
spec:
  priorityClassName: koord-batch
  priority: 5500
  initContainers:
  - {name: setup, resources: {requests: {kubernetes.io/batch-cpu: 2k}}}
  - {name: mesh, restartPolicy: Always, resources: {limits: {kubernetes.io/batch-cpu: "200", kubernetes.io/batch-memory: 64Mi}, requests: {kubernetes.io/batch-cpu: "200", kubernetes.io/batch-memory: 64Mi}}}
  containers:
  - {name: worker-b, resources: {requests: {kubernetes.io/batch-cpu: 1k, ephemeral-storage: 1Gi}}}
  - {name: worker, resources: {requests: {kubernetes.io/batch-memory: 1Gi}}}
  - {name: idle}
`,
		},
		{
			Name: "a pod of the prod band keeps its resources", Profiles: `[{metadata: {name: prod}, spec: {qosClass: LS, priorityClassName: koord-prod}}]`,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `
metadata: {labels: {koordinator.sh/qosClass: LS}}
spec: {priorityClassName: koord-prod, priority: 9500, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
`,
		},
		{
			Name: "a pod of the free band keeps its resources", Profiles: `[{metadata: {name: free}, spec: {priorityClassName: koord-free}}]`,
			Pod:     `spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `spec: {priorityClassName: koord-free, priority: 3500, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
		},
		{
			Name: "a batch pod that no profile selects is not translated", Profiles: `[]`,
			Pod:     `spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
		},
		{
			Name: "a pod that brings its own batch priority is translated by a profile about something else", WantRefusal: "KOORD1304", Profiles: plain,
			Pod: `spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `
metadata: {labels: {x: "1"}, annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"1k"}}}}'}}
spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: 1k}}}]}
`,
		},
		{
			Name: "the priority-class label wins over the priority", Profiles: `[{metadata: {name: a}, spec: {labels: {koordinator.sh/priority-class: koord-mid}}}]`,
			Pod: `spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {cpu: 1500m}}}]}`,
			WantPod: `
metadata: {labels: {koordinator.sh/priority-class: koord-mid}, annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/mid-cpu":"1500"}}}}'}}
spec: {priorityClassName: koord-batch, containers: [{name: main, resources: {requests: {kubernetes.io/mid-cpu: "1500"}}}]}
`,
		},
		{
			Name: "an unknown priority-class label counts as none, and BE as batch", WantRefusal: "KOORD1303", Profiles: `[{metadata: {name: a}, spec: {qosClass: BE, labels: {koordinator.sh/priority-class: gold}}}]`,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}`,
			WantPod: `
metadata: {labels: {koordinator.sh/priority-class: gold, koordinator.sh/qosClass: BE}, annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"1k"}}}}'}}
spec: {containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: 1k}}}]}
`,
		},
		{
			Name: "BE without a priority counts as batch", WantRefusal: "KOORD1303", Profiles: `[{metadata: {name: a}, spec: {qosClass: BE}}]`,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: 1m, memory: "0"}}}]}`,
			WantPod: `
metadata: {labels: {koordinator.sh/qosClass: BE}, annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"1","kubernetes.io/batch-memory":"0"}}}}'}}
spec: {containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: "1", kubernetes.io/batch-memory: "0"}}}]}
`,
		},
		{
			Name: "batch resources that the pod states itself are repeated without any profile", WantRefusal: "KOORD1304", Profiles: `[]`,
			Pod: `spec: {containers: [{name: main, resources: {limits: {kubernetes.io/batch-cpu: "1000"}}}]}`,
			WantPod: `
metadata: {annotations: {` + repeated + `: '{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"1k"},"requests":{"kubernetes.io/batch-cpu":"1k"}}}}'}}
spec: {containers: [{name: main, resources: {limits: {kubernetes.io/batch-cpu: 1k}, requests: {kubernetes.io/batch-cpu: 1k}}}]}
`,
		},
		{
			Name: "an amount that is stated in both forms is lost in neither", Profiles: batch,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1", kubernetes.io/batch-cpu: "2000", memory: 1Gi}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"2k","kubernetes.io/batch-memory":"1Gi"}}}}'}
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {cpu: "1", kubernetes.io/batch-cpu: "2000", kubernetes.io/batch-memory: 1Gi}}}]}
`,
		},
		{
			Name: "bytes with a fraction are rounded up, exponents and suffixes stay", Profiles: batch,
			Pod: `spec: {containers: [{name: a, resources: {requests: {cpu: "1e1", memory: 1500m}}}, {name: b, resources: {requests: {cpu: "2500e-3", memory: "2e9"}}}, {name: c, resources: {requests: {cpu: 3k, memory: 1234567890}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"a":{"requests":{"kubernetes.io/batch-cpu":"10k","kubernetes.io/batch-memory":"2"}},"b":{"requests":{"kubernetes.io/batch-cpu":"2500","kubernetes.io/batch-memory":"2e9"}},"c":{"requests":{"kubernetes.io/batch-cpu":"3M","kubernetes.io/batch-memory":"1234567890"}}}}'}
spec: {` + batchSpec + `, containers: [{name: a, resources: {requests: {kubernetes.io/batch-cpu: 10k, kubernetes.io/batch-memory: "2"}}}, {name: b, resources: {requests: {kubernetes.io/batch-cpu: "2500", kubernetes.io/batch-memory: "2e9"}}}, {name: c, resources: {requests: {kubernetes.io/batch-cpu: 3M, kubernetes.io/batch-memory: "1234567890"}}}]}
`,
		},
		{
			Name: "an amount too large for thousandths stays", Profiles: batch,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: 9000000000000001, memory: 8E}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-memory":"8E"}}}}'}
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {cpu: 9000000000000001, kubernetes.io/batch-memory: 8E}}}]}
`,
		},
		{
			Name: "a request stays with a limit that cannot be translated", Profiles: batch,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: 9000000000000001, memory: 2Gi, kubernetes.io/batch-memory: 3Gi}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"main":{"limits":{"kubernetes.io/batch-memory":"3Gi"},"requests":{"kubernetes.io/batch-memory":"3Gi"}}}}'}
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {cpu: "1", memory: 1Gi}, limits: {cpu: 9000000000000001, memory: 2Gi, kubernetes.io/batch-memory: 3Gi}}}]}
`,
		},
		{
			Name: "the largest amount that is translated", Profiles: batch,
			Pod: `spec: {containers: [{name: main, resources: {requests: {cpu: 9P}}}]}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"main":{"requests":{"kubernetes.io/batch-cpu":"9E"}}}}'}
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: 9E}}}]}
`,
		},
	}
}

// wholePodCases are about resources of the pod as a whole.
func wholePodCases() []Case {
	return []Case{
		{
			Name: "the resources of the whole pod move to its only container", Profiles: batch,
			Pod: `spec: {resources: {requests: {cpu: "2", memory: 1Gi}, limits: {cpu: "4", memory: 2Gi}}}`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"main":{"limits":{"kubernetes.io/batch-cpu":"4k","kubernetes.io/batch-memory":"2Gi"},"requests":{"kubernetes.io/batch-cpu":"2k","kubernetes.io/batch-memory":"1Gi"}}}}'}
spec: {` + batchSpec + `, containers: [{name: main, resources: {requests: {kubernetes.io/batch-cpu: 2k, kubernetes.io/batch-memory: 1Gi}, limits: {kubernetes.io/batch-cpu: 4k, kubernetes.io/batch-memory: 2Gi}}}]}
`,
			WantWebhook: true,
		},
		{
			Name: "what the containers do not request goes to the one without a limit", Profiles: batch,
			Pod: `
spec:
  resources: {requests: {cpu: "3"}}
  initContainers: [{name: mesh, restartPolicy: Always, resources: {requests: {cpu: 500m}}}]
  containers:
  - {name: bounded, resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}}
  - {name: free, resources: {requests: {cpu: 250m}}}
`,
			WantPod: `
metadata:
  ` + batchMeta + `
  annotations: {` + repeated + `: '{"containers":{"bounded":{"limits":{"kubernetes.io/batch-cpu":"1k"},"requests":{"kubernetes.io/batch-cpu":"1k"}},"free":{"requests":{"kubernetes.io/batch-cpu":"1500"}},"mesh":{"requests":{"kubernetes.io/batch-cpu":"500"}}}}'}
spec:
  priorityClassName: koord-batch
  priority: 5500
  initContainers: [{name: mesh, restartPolicy: Always, resources: {requests: {kubernetes.io/batch-cpu: "500"}}}]
  containers:
  - {name: bounded, resources: {requests: {kubernetes.io/batch-cpu: 1k}, limits: {kubernetes.io/batch-cpu: 1k}}}
  - {name: free, resources: {requests: {kubernetes.io/batch-cpu: "1500"}}}
`,
			WantWebhook: true,
		},
		{
			Name: "a pod of the prod band keeps the resources of the whole pod", Profiles: plain,
			Pod:         `spec: {resources: {requests: {cpu: "2"}}}`,
			WantPod:     `{metadata: {labels: {x: "1"}}, spec: {resources: {requests: {cpu: "2"}}}}`,
			WantWebhook: true,
		},
	}
}
