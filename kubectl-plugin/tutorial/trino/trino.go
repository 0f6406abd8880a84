package trino

import (
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// Namespace of the pods of the tutorial.
const Namespace = "trino-tutorial"

// New returns the tutorial, to be run once.
func New() tutorial.Tutorial {
	s := &story{Service: service.Service{Namespace: Namespace, High: 150, LeastPercent: 20, Yields: true}}
	return tutorial.Tutorial{
		Name: "trino", Aliases: []string{"presto"}, Title: "Trino on what services leave", Programs: java.Programs,
		Short: "Trino answers queries with what a service leaves, and drains workers when it needs more",
		Intro: `A service rarely uses what it requests. Here a real Trino 435, a coordinator and workers in pods of their own, answers queries with
the rest of the node; nothing of it is simulated. A query fails when one of its workers is just taken away. So workers are drained: when the
service needs more, one is asked to finish its work in the middle of a query, and the query is still answered. The service answers requests
of 5 ms of CPU time each, and what counts for it is how long the slowest hundredth of them takes (p99).

It takes about twelve minutes, and the first time a JDK 17, Maven and 90 MB from Maven Central, which are verified and cached. Nothing is
pushed to or pulled from a registry: the image is made of the JDK and the jars on this machine, and imported into the node's containerd.
For figures like these nothing else should run on the machine.`,
		Steps: []tutorial.Step{
			{
				Title: "Prepare the node",
				Text: `The image of Trino is built and imported, and koord-manager is told to size workers. What is free of the node up to 65 percent
of its CPU is offered to batch pods, and the agent holds them back above it, by a quota of CPU time: a machine of few CPUs has none to take
from them. A fifth of the CPU is left to them in any case, and they yield each CPU to whatever else wants it (cpu.idle). The scheduler takes the
node however much of it is used, because there is no other.`,
				Do: s.prepare, Seen: s.SeenAround,
			},
			{
				Title: "A service alone",
				Text: `A service that requests half a CPU gets 50 requests a second, and then 150. Look at how long they take, and at how much of
the node is used: most of it is idle.`,
				Do: s.ServeAlone, Seen: s.SeenAlone, Holds: s.Served,
			},
			{
				Title: "What the service leaves",
				Text: `koord-manager offers as batch-cpu and batch-memory what is left of the node's capacity after a margin, what the system
uses, and what services use: not what they request. Each line below is a number that the calculation had, and where it came from.`,
				Do: s.lookAtOffer, Seen: s.SeenOffer, Holds: s.offers,
			},
			{
				Title: "Trino gets as many workers as fit",
				Text: `A ClusterColocationProfile makes the pods of Trino batch pods of QoS class BE. The workers are a Deployment of one, which
koord-manager scales to what the node offers, to at most three: the ElasticWorkers object asks for it. A worker that is to go is asked to shut
down gracefully, by the request that Trino has for it. Trino allows that to users who may write system information: the rules in the
ConfigMap name user koordinator.`,
				Do: s.deploy, Seen: s.seenDeployed, Holds: s.isBatch,
			},
			{
				Title: "Both together",
				Text: `The service gets 50 requests a second as before, and two clients send one query after the other to Trino. A query reads the
800,000 rows of partsupp of TPC-H at scale factor 1, which the connector generates meanwhile, and counts them by the region of the supplier.
Look at how much more of the node is used, and at what the service notices of it.
Every other ten seconds the pods of the engine are paused, to compare: what a machine does by itself changes over minutes.`,
				Do: s.runTogether, Seen: s.seenTogether, Holds: s.makesProgress,
			},
			{
				Title: "The service needs more, and a worker is drained",
				Text: `Now 150 requests a second come. The agent of the node sees within seconds that services use more, and lowers the quota of
best-effort pods by as much. koord-manager offers less, a little later, because it goes by averages. Fewer workers fit then, and those that go
are asked to shut down: they get no tasks of new queries, and finish those that they have. Look at the answer of the query that ran
meanwhile: it is the same as before.`,
				Do: s.raiseLoad, Seen: s.seenRaised, Holds: s.gaveWay,
			},
			{
				Title: "The service needs less again",
				Text:  `The requests are 50 a second again. The node offers more, and workers come back.`,
				Do:    s.lowerLoad, Seen: s.seenLowered, Holds: s.recovered,
			},
			{
				Title: "All figures",
				Text: `How long requests took, how much of the machine's CPU was used (by everything on it, the control plane of the sandbox and
what sends the requests included), and how many rows Trino read.`,
				Do: s.summarize,
			},
		},
	}
}
