package spark

import (
	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// Namespace of the pods of the tutorial.
const Namespace = "spark-tutorial"

// New returns the tutorial, to be run once.
func New() tutorial.Tutorial {
	s := &story{Service: service.Service{Namespace: Namespace, High: 150, LeastPercent: 10, Yields: true}}
	return tutorial.Tutorial{
		Name: "spark", Title: "Spark on what services leave", Programs: java.Programs,
		Short: "Spark counts words with what a service leaves, and gives way when it needs more",
		Intro: `A service rarely uses what it requests. Here a real Spark 4.0.1, which spark-operator 2.5.2 submits, with a driver and executors in
pods of their own, counts words with the rest of the node; nothing of it is simulated. The service answers requests of 5 ms of CPU time each, and what counts for it is how
long the slowest hundredth of them takes (p99). We look at it alone, with Spark beside it, when three times as many requests come, and
afterwards.

It takes about eight minutes, what ` + "`make spark-operator`" + ` builds, and the first time a JDK 17, Maven and 150 MB from Maven Central, which are verified and cached. Nothing is
pushed to or pulled from a registry: the image is made of the JDK and the jars on this machine, and imported into the node's containerd.
For figures like these nothing else should run on the machine.`,
		Steps: []tutorial.Step{
			{
				Title: "Prepare the node",
				Text: `The image of Spark is built and imported. What is free of the node up to 65 percent of its CPU is offered to batch pods, and
the agent holds them back above it, by a quota of CPU time: a machine of few CPUs has none to take from them. A tenth of the CPU is left to them in
any case, and they yield each CPU to whatever else wants it (cpu.idle). The scheduler takes the node however much of it is used, because there is no
other.`,
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
				Title: "Spark becomes a batch job",
				Text: `A ClusterColocationProfile selects the pods of Spark by the label that spark-operator gives all of them, and makes them
batch pods of QoS class BE. The operator and Spark know nothing of it: the operator runs spark-submit for each SparkApplication, the driver
asks the API server for executors as it always does, and the webhook of koord-manager turns their cpu and memory into batch-cpu and
batch-memory. The operator runs on this machine beside the sandbox, and the driver is on the network of the node, because the API server of a
sandbox listens on loopback.`,
				Do: s.submit, Seen: s.seenSubmitted, Holds: s.isBatch,
			},
			{
				Title: "Both together",
				Text: `The service gets 50 requests a second as before, and Spark has what it leaves. Look at how much more of the node is used,
and at what the service notices of it.
Every other ten seconds the pods of the engine are paused, to compare: what a machine does by itself changes over minutes.`,
				Do: s.runTogether, Seen: s.seenTogether, Holds: s.makesProgress,
			},
			{
				Title: "The service needs more",
				Text: `Now 150 requests a second come. The agent of the node sees within seconds that services use more, and lowers the quota
of best-effort pods by as much. koord-manager offers less, a little later, because it goes by averages. Look at how Spark slows down, and at
whether the service has what it needs.`,
				Do: s.raiseLoad, Seen: s.seenRaised, Holds: s.gaveWay,
			},
			{
				Title: "The service needs less again",
				Text:  `The requests are 50 a second again. Spark gets back what it gave.`,
				Do:    s.lowerLoad, Seen: s.seenLowered, Holds: s.recovered,
			},
			{
				Title: "All figures",
				Text: `How long requests took, how much of the machine's CPU was used (by everything on it, the control plane of the sandbox and
what sends the requests included), and how many tasks Spark did.`,
				Do: s.summarize,
			},
		},
	}
}
