package yarn

import (
	"context"
	_ "embed" // what is downloaded, how it is verified, and the class beside it

	"koordinator.sh/koord/kubectl-plugin/tutorial"
	"koordinator.sh/koord/kubectl-plugin/tutorial/java"
)

//go:embed pom.xml
var pom []byte

//go:embed checksums.txt
var checksums []byte

//go:embed java/Primes.java
var primes []byte

// Hadoop is YARN of Hadoop 3.4 with classes beside it, by file name.
func Hadoop(sources map[string][]byte) java.Project {
	return java.Project{Name: "yarn", POM: pom, Checksums: checksums, Sources: sources}
}

// Image is the name that the image of YARN is imported by. No registry has it.
const Image = "koordinator.sh/sandbox/hadoop-yarn:3.4.2"

// options keep a server small, and open to it the package of Java that it reaches into.
var options = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "--add-opens=java.base/java.lang=ALL-UNNAMED"}

// programs are those that a NodeManager starts containers with.
var programs = []string{"bash", "cat", "chmod", "cp", "find", "id", "ln", "ls", "mkdir", "mv", "readlink", "rm", "setsid"}

// importImage downloads YARN, makes an image of it and imports it into the node's containerd.
func (s *story) importImage(ctx context.Context, t *tutorial.Session) (err error) {
	t.Tell("downloading YARN, unless the cache has it")
	if s.jars, err = Hadoop(map[string][]byte{"Primes.java": primes}).Jars(ctx); err != nil {
		return err
	}
	t.Tell("building the image, unless the cache has it")
	archive, err := java.Image(ctx, s.jars, "Primes", Image, options, programs...)
	if err != nil {
		return err
	}
	if err := t.Node.ImportImage(ctx, archive); err != nil {
		return err
	}
	t.Show("ctr --namespace k8s.io images import hadoop-yarn.tar", "saved "+Image)
	return nil
}
