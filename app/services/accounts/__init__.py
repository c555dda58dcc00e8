"""Who acts: people and their accounts, the teams they are in, and the record of what they did."""
