//go:build linux

package g27

import "strings"

// fileVerbs plays every verb at every place, each time in another spelling.
func fileVerbs() []play {
	var all []play
	n := 0
	for i, v := range fileVerbList {
		for _, pl := range places {
			n++
			path := pl.file
			if i%3 == 1 {
				path = pl.other
			}
			if v.edit {
				path = pl.rest
			}
			s := spellings[(n*7)%len(spellings)]
			for k := 1; s.list && !v.list; k++ {
				s = spellings[(n*7+k)%len(spellings)]
			}
			dir := ""
			if n%5 == 0 {
				dir = projDir + "/src"
			}
			if strings.Contains(v.text, "README.md") {
				dir = ""
			}
			p := play{class: v.class, dir: dir, needs: v.needs}
			pre, word := s.write(path, p.where())
			if strings.Contains(v.text, "README.md") && strings.Contains(pre, "cd ") || strings.Contains(pre, "pushd") && strings.Contains(v.text, "git ") {
				pre, word = "", path // the file that is copied is where the command begins
			}
			p.text = v.fill(pre, word, path, p.where())
			all = append(all, p)
		}
	}
	return all
}

// dirVerbs plays every verb for directories at every place.
func dirVerbs() []play {
	var all []play
	n := 0
	for _, v := range dirVerbList {
		for _, pl := range places {
			n++
			s := spellings[(n*5)%len(spellings)]
			for k := 1; s.list && !v.list; k++ {
				s = spellings[(n*5+k)%len(spellings)]
			}
			p := play{class: v.class, needs: v.needs}
			if n%6 == 0 && !strings.Contains(v.text, "cd ..") {
				p.dir = projDir + "/sub"
			}
			pre, word := s.write(pl.dir, p.where())
			if strings.Contains(pre, "cd ") || strings.Contains(pre, "pushd") || strings.Contains(pre, "set --") {
				pre, word = "", pl.dir
			}
			p.text = v.fill(pre, word, pl.dir, p.where())
			all = append(all, p)
		}
	}
	return all
}

// spelled plays a few verbs in every spelling.
func spelled() []play {
	var all []play
	for i, s := range spellings {
		for k, v := range []verb{
			{text: "rm -rf {W}", list: true}, {text: "rm {W}", list: true}, {text: "echo new > {W}"}, {text: "mv {W} /tmp/gone"},
		} {
			if s.list && !v.list {
				continue
			}
			for j, pl := range []place{places[0], places[1+(i+k)%(len(places)-1)]} {
				path := pl.file
				if strings.Contains(v.text, "-rf") {
					path = pl.dir
				}
				p := play{class: "spelling"}
				if (i+j+k)%4 == 0 {
					p.dir = projDir + "/sub"
				}
				pre, word := s.write(path, p.where())
				p.text = v.fill(pre, word, path, p.where())
				all = append(all, p)
			}
		}
	}
	return all
}
