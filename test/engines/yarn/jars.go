package yarn

import (
	_ "embed" // the application

	"koordinator.sh/koord/kubectl-plugin/tutorial/yarn"
)

//go:embed java/Job.java
var job []byte

// project is Hadoop with what it needs, and Job.
var project = yarn.Hadoop(map[string][]byte{"Job.java": job})
