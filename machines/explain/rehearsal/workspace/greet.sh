echo "Hello, $2."
