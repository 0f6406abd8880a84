package yarn

import (
	"slices"

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
	"koordinator.sh/koord/kubectl-plugin/tutorial/service"
)

// Namespace of the pods of the tutorial.
const Namespace = "yarn-tutorial"

// high is how many requests per second the service gets when it needs more. They leave some vcores of a machine of two CPUs: YARN ends all
// containers of a node that offers nothing, the masters of jobs among them.
const high = 120

// New returns the tutorial, to be run once.
func New() tutorial.Tutorial {
	s := &story{Service: service.Service{Namespace: Namespace, High: high, LeastPercent: 10, Yields: true}}
	return tutorial.Tutorial{
		Name: "yarn", Aliases: []string{"hadoop"}, Title: "Hadoop YARN on what services leave", Programs: slices.Concat(java.Programs, programs),
		Short: "YARN has of a node what a service leaves, and a job shrinks and grows with it",
		Intro: `A service rarely uses what it requests. Here a real YARN of Hadoop 3.4.2, a ResourceManager and a NodeManager in pods, runs a job with
the rest of the node; nothing of it is simulated. YARN places containers itself, beside the scheduler of Kubernetes, so koord-bridge tells both
what is theirs. The service answers requests of 5 ms of CPU time each, and what counts for it is how long the slowest hundredth of them takes
(p99).

It takes about eight minutes, and the first time a JDK 17, Maven and 90 MB from Maven Central, which are verified and cached. Nothing is
pushed to or pulled from a registry: the image is made of the JDK, the jars, bash and a few programs on this machine, and imported into the
node's containerd. For figures like these nothing else should run on the machine.`,
		Steps: slices.Concat(s.arrival(), s.work()),
	}
}

// arrival of YARN beside a service.
func (s *story) arrival() []tutorial.Step {
	return []tutorial.Step{
		{
			Title: "Prepare the node",
			Text: `The image of YARN is built and imported. What is free of the node up to 65 percent of its CPU is offered to batch pods and to
YARN, and the agent holds both back above it, by a quota of CPU time: a machine of few CPUs has none to take from them. A tenth of the CPU is left
to them in any case, and they yield each CPU to whatever else wants it (cpu.idle). The scheduler takes the node however much of it is used, because
there is no other.`,
			Do: s.prepare, Seen: s.SeenAround,
		},
		{
			Title: "A service alone",
			Text: `A service that requests half a CPU gets 50 requests a second, and then 120. Look at how long they take, and at how much of
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
			Title: "YARN gets its part of the node",
			Text: `The ResourceManager is a pod as those of services are, and the NodeManager a best-effort pod, in which containers run. It registers
with one vcore. Then koord-bridge and koord-yarn-agent are installed. koord-bridge has YARN use what the node offers, and the node not offer
that to pods, too: 20 vcores stand for a core. koord-yarn-agent tells the agent of the node of YARN's containers, and moves them into cgroups below
that of best-effort pods.`,
			Do: s.deploy, Seen: s.seenDeployed, Holds: s.sized,
		},
	}
}

// work of a job, beside a service that needs more and less.
func (s *story) work() []tutorial.Step {
	return []tutorial.Step{
		{
			Title: "Both together",
			Text: `The service gets 50 requests a second as before, and a job is submitted to YARN. It counts primes in pieces: each is the work of a
container of one vcore, of which it asks for up to twelve. Look at how much more of the node is used, and at what the service notices of it.
Every other ten seconds the pods of the engine are paused, to compare: what a machine does by itself changes over minutes.`,
			Do: s.runTogether, Seen: s.seenTogether, Holds: s.makesProgress,
		},
		{
			Title: "Containers with too little CPU are killed",
			Text: `Now 150 requests a second come for a moment. The agent of the node sees within seconds that services use more, and lowers the quota of
best effort by as much. What YARN may use follows later, because koord-manager goes by averages: until then all containers are slow. The agent can kill
some, so that the others have enough: feature BECPUEvict, which is off by default and was enabled when YARN was installed. It does nothing until the
settings below say which percentage of the CPU that best effort requests it must get. Containers that have used the least CPU time go first, because that
work is lost, and the master of the job goes last. YARN tells the master, and other containers go on with their pieces.`,
			Do: s.evictStarved, Seen: s.seenEvicted, Holds: s.wasEvicted,
		},
		{
			Title: "The service needs more, and the job shrinks",
			Text: `Now 120 requests a second come and stay. koord-manager offers less after a while, and koord-bridge tells YARN. YARN warns the job of
containers that no longer fit, and kills those that still run after 30 seconds. Their pieces are not lost: what was counted of them is known, and
other containers go on.`,
			Do: s.raiseLoad, Seen: s.seenRaised, Holds: s.gaveWay,
		},
		{
			Title: "The service needs less again, and the job grows",
			Text: `The requests are 50 a second again. The node offers more, and YARN starts more containers. In the end the job is asked to finish what it
has begun.`,
			Do: s.lowerLoad, Seen: s.seenLowered, Holds: s.recovered,
		},
		{
			Title: "All figures",
			Text: `How long requests took, how much of the machine's CPU was used (by everything on it, the control plane of the sandbox and
what sends the requests included), and how many numbers the job looked at.`,
			Do: s.summarize,
		},
	}
}
