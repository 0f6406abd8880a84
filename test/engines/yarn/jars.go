package yarn

import (
	_ "embed" // what is downloaded, and how it is verified

	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
)

//go:embed pom.xml
var pom []byte

//go:embed checksums.txt
var checksums []byte

//go:embed java/Job.java
var job []byte

// project is Hadoop with what it needs, and Job.
var project = java.Project{Name: "yarn", POM: pom, Checksums: checksums, Sources: map[string][]byte{"Job.java": job}}
