# The home that the pages for users have in mind; docs_test.go types their lines in it.
set -eu
cd "$HOME"
mkdir -p app/your-project new shop/src shop/data other .claude .retake
echo '{"floor":"1KB"}' > .retake/config.json
printf '#!/bin/sh\n[ "$1" = test ] && grep -q pass result.txt\n' > bin/npm
printf '#!/bin/sh\necho "select 1;"\n' > bin/pg_dump
printf '#!/bin/sh\nexec cat\n' > bin/psql
cat > bin/interrupt-restore << 'EOF'
#!/bin/bash
# kills a restore between its first file and its last
for try in 1 2 3 4 5 6 7 8; do
  retake status 2>&1 | grep 'was interrupted' && exit
  rm -rf many; mkdir many; for n in {1..200}; do echo $n > many/$n; done
  retake save many; rm -r many; retake save few; retake daemon stop
  retake --solo restore latest~1 --yes &
  while [ ! -e many ] && kill -0 $!; do :; done
  kill -9 $!; wait $!
done
exit 1
EOF
chmod +x bin/npm bin/pg_dump bin/psql bin/interrupt-restore
(cd new && retake init)
cd shop
git init -q .
echo pass > result.txt
echo SHIPPING=5 > .env
echo 'drop table orders;' > migration.sql
echo SHIPPING=5 > secret.txt
cp secret.txt keys.txt
cp secret.txt README.md
echo 1 > src/app.js
sql() { if command -v sqlite3 > /dev/null; then sqlite3 "$@"; else echo "$2" >> "$1"; fi; }
sql shop.db 'create table orders(id integer primary key, product text)'
cp shop.db data/shop.db
retake init
tell() { printf '{"session_id":"%s","cwd":"%s","hook_event_name":"%s",%s}' "$2" "$PWD" "$3" "$4" | retake hook "$1"; }
turn() { # AGENT SESSION PROMPT COMMAND
  starts=UserPromptSubmit ends=Stop
  if [ "$1" = docker-agent ]; then starts=user_prompt_submit ends=stop; fi
  tell "$1" "$2" $starts "\"prompt\":\"$3\""
  eval "$4"
  tell "$1" "$2" $ends '"stop_response":"It is done."'
  until retake log --json | grep -q "\"$3\""; do sleep .05; done
}
for n in 2 3 4; do echo $n > src/part$n.js; retake save "part $n"; done
turn docker-agent d0c-1 "part 5" 'echo 5 > src/part5.js'
for n in 6 7 8; do echo $n > src/part$n.js; retake save "part $n"; done
turn codex 0f3a-1 "free shipping" 'echo SHIPPING=0 > .env'
turn claude-code c0de-1 "write an order" 'sql shop.db "insert into orders(product) values (1)"'
for n in 11 12 13; do
  echo $n > src/app.js; sql data/shop.db "insert into orders(product) values ($n)"; retake save "app $n"
done
retake config verify.test "npm test"
retake verify
retake pin 13 tested
turn docker-agent d0c-1 "delete a part" 'rm src/part3.js'
for n in 5 14; do until retake show $n --conversation; do sleep .05; done; done
retake daemon stop
